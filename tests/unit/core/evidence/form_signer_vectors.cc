#include "core/tls/x509.h"
#include "tests/unit/core/evidence/vectors.h"

namespace leasehold::test {
namespace {

void replace(std::string& text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  LEASEHOLD_CHECK(at != std::string::npos, from);
  text.replace(at, from.size(), to);
}

std::function<void(Case&)> in_text(const char* from, const char* to) {
  return [=](Case& c) { c.on_text = [=](std::string& text) { replace(text, from, to); }; };
}

// The run evidence's payload changed and signed again by the right key.
std::function<void(Case&)> resign_evidence(std::function<void(DsseEnvelope&)> change) {
  return [=](Case& c) {
    std::string key = c.run.agent.key.private_key_pem;
    c.after = [=](Bundle& bundle) {
      DsseEnvelope& envelope = bundle.evidence.envelope;
      change(envelope);
      envelope = dsse_sign(key, envelope.payload_type, envelope.payload).value();
    };
  };
}

std::function<void(Case&)> wipe_signed_by(std::function<Signer(const Pki&)> make) {
  return [=](Case& c) { c.run.wipe.signer = make(c.run.pki); };
}

Identity other(std::function<void(Identity&)> change) {
  Identity identity = ramdisk_identity();
  change(identity);
  return identity;
}

}  // namespace

std::vector<Vector> form_vectors() {
  using R = EvidenceReason;
  return {
      {R::kMalformed, "another schema", in_text("\"schema\":1", "\"schema\":2")},
      {R::kMalformed, "a keyid", in_text("\"keyid\":\"\"", "\"keyid\":\"a\"")},
      {R::kMalformed, "an unknown member", in_text("{\"domain\"", "{\"a\":1,\"domain\"")},
      {R::kMalformed, "a second signature",
       in_text("\"signatures\":[", "\"signatures\":[{\"keyid\":\"\",\"sig\":\"AAAA\"},")},
      {R::kMalformed, "a member of the predicate that nobody judges",
       [](Case& c) { c.run.wipe.body["note"] = "x"; }},
      {R::kMalformed, "a verdict in lower case",
       [](Case& c) { c.run.wipe.body["verdict"] = "pass"; }},
      {R::kNotCanonical, "a space", in_text("\"schema\":1", "\"schema\": 1")},
      {R::kNotCanonical, "no final newline",
       [](Case& c) { c.on_text = [](std::string& text) { text.pop_back(); }; }},
      {R::kNotCanonical, "a second newline",
       [](Case& c) { c.on_text = [](std::string& text) { text += "\n"; }; }},
      {R::kNotCanonical, "a statement with a space",
       resign_evidence([](DsseEnvelope& e) { e.payload += " "; })},
      {R::kNotCanonical, "a PEM text with a newline more",
       [](Case& c) { c.after = [](Bundle& b) { b.results[1].chain_pem[1] += "\n"; }; }},
      {R::kWrongPayloadType, "run evidence as a hello",
       resign_evidence([](DsseEnvelope& e) { e.payload_type = kHelloPayloadType; })},
      {R::kWrongPredicate, "a wipe listed as an inventory",
       [](Case& c) {
         c.edit = [](RunEvidence& e) { e.results[1].kind = ResultKind::kInventory; };
       }},
      {R::kWrongPredicate, "a result in the place of run evidence",
       [](Case& c) {
         c.after = [](Bundle& b) { b.evidence.envelope.payload = b.results[1].envelope.payload; };
         // Signed by the agent, so that only the predicate is wrong.
         auto inner = c.after;
         std::string key = c.run.agent.key.private_key_pem;
         c.after = [=](Bundle& b) {
           inner(b);
           b.evidence.envelope =
               dsse_sign(key, kInTotoPayloadType, b.evidence.envelope.payload).value();
         };
       }},
      {R::kBadSignature, "a wipe signed with another key",
       [](Case& c) { c.run.wipe.signer.key = generate_key(); }},
      {R::kBadSignature, "run evidence signed with another key",
       [](Case& c) { c.run.agent.key = generate_key(); }},
  };
}

std::vector<Vector> signer_vectors() {
  using R = EvidenceReason;
  return {
      {R::kChainMalformed, "no chain", [](Case& c) { c.run.wipe.signer.chain_pem.clear(); }},
      {R::kChainMalformed, "the root in the chain",
       [](Case& c) { c.run.agent.chain_pem.push_back(c.run.pki.root.certificate_pem); }},
      {R::kChainMalformed, "no certificate",
       [](Case& c) { c.run.wipe.signer.chain_pem[0] = "certificate"; }},
      {R::kChainTooLong, "five certificates",
       [](Case& c) { c.run.wipe.signer.chain_pem.resize(5, c.run.pki.issuing.certificate_pem); }},
      {R::kUntrusted, "another root",
       [](Case& c) { c.anchors.root_pem = make_pki().root.certificate_pem; }},
      {R::kExpired, "judged after the leaf's end",
       [](Case& c) { c.instant_ms = kNow + 13 * kHour; }},
      {R::kExpired, "a ramdisk's leaf that had ended", wipe_signed_by([](const Pki& pki) {
         return pki.sign_in(ramdisk_identity(), pki.site_ca, around_now(9 * kHour, -kHour));
       })},
      {R::kNotYetValid, "judged before the leaf's beginning",
       [](Case& c) { c.instant_ms = kNow - 13 * kHour; }},
      {R::kWrongIssuer, "a ramdisk's leaf from the issuing CA", wipe_signed_by([](const Pki& pki) {
         return sign_in_rogue(pki.issuing, {{ramdisk_identity().uri()}, {}, false});
       })},
      {R::kUnrecordedSiteCa, "a site CA that is not recorded",
       [](Case& c) {
         c.anchors.site_cas = {{"s1", std::string(64, '0')}};
       }},
      {R::kUnrecordedSiteCa, "no recorded site CA", [](Case& c) { c.anchors.site_cas.clear(); }},
      {R::kForeignSiteCa, "a leaf of another site", wipe_signed_by([](const Pki& pki) {
         std::string uri = other([](Identity& i) { i.site = "s2"; }).uri();
         return sign_in_rogue(pki.site_ca, {{uri}, {}, false});
       })},
      {R::kBadUri, "two URIs", wipe_signed_by([](const Pki& pki) {
         std::string uri = ramdisk_identity().uri();
         return sign_in_rogue(pki.site_ca, {{uri, uri + "0"}, {}, false});
       })},
      {R::kNotALeaf, "the issuing CA's own key",
       [](Case& c) {
         c.run.agent.key.private_key_pem = c.run.pki.issuing.private_key_pem;
         c.run.agent.chain_pem = {c.run.pki.issuing.certificate_pem};
       }},
      {R::kForbiddenName, "a ramdisk's leaf with a DNS name", wipe_signed_by([](const Pki& pki) {
         std::string uri = ramdisk_identity().uri();
         return sign_in_rogue(pki.site_ca, {{uri}, {"gateway.s1.example.net"}, false});
       })},
      {R::kKindMayNot, "a wipe signed by the site's agent",
       [](Case& c) { c.run.wipe.signer = c.run.agent; }},
      {R::kKindMayNot, "run evidence signed by the ramdisk",
       [](Case& c) { c.run.agent = c.run.wipe.signer; }},
      {R::kKindMayNot, "run evidence signed by the gateway",
       [](Case& c) {
         Identity gateway = site_agent_identity();
         gateway.kind = IdentityKind::kGateway;
         c.run.agent = c.run.pki.sign_in(gateway);
       }},
      {R::kTenantMayNotAttest, "a wipe signed by the lessee's OS of this very node",
       wipe_signed_by(
           [](const Pki& pki) { return pki.sign_in(node_identity(IdentityKind::kNodeTenant)); })},
      {R::kNotRamdisk, "a wipe signed by the node under platform trust",
       wipe_signed_by(
           [](const Pki& pki) { return pki.sign_in(node_identity(IdentityKind::kNode)); })},
  };
}

}  // namespace leasehold::test
