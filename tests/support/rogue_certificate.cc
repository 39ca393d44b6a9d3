// Certificates that no issuer of ours would make, from core/tls's own pieces.
#include "core/tls/build.h"
#include "core/tls/certificate.h"
#include "tests/support/evidence_fixture.h"

namespace leasehold::test {

Signer sign_in_rogue(const CaKey& issuer, const RogueLeaf& rogue) {
  Signer signer;
  signer.key = generate_key();
  X509Ptr above = parse_certificate_pem(issuer.certificate_pem).value();
  PkeyPtr issuer_key = parse_p256_key(issuer.private_key_pem).value();
  PkeyPtr key = parse_p256_key(signer.key.private_key_pem).value();
  X509Ptr leaf = new_certificate(key.get(), around_now(kHour, kHour));
  extend(leaf.get(), above.get(), NID_basic_constraints,
         rogue.is_ca ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE");
  extend(leaf.get(), above.get(), NID_key_usage,
         rogue.is_ca ? "critical,keyCertSign,digitalSignature" : "critical,digitalSignature");
  extend(leaf.get(), above.get(), NID_ext_key_usage, "clientAuth,serverAuth");
  extend(leaf.get(), above.get(), NID_subject_key_identifier, "hash");
  extend(leaf.get(), above.get(), NID_authority_key_identifier, "keyid:always");
  GeneralNamesPtr names(GENERAL_NAMES_new());
  for (const std::string& uri : rogue.uris) add_name(names.get(), GEN_URI, uri);
  for (const std::string& dns : rogue.dns_names) add_name(names.get(), GEN_DNS, dns);
  X509_add1_ext_i2d(leaf.get(), NID_subject_alt_name, names.get(), rogue.is_ca ? 0 : 1,
                    X509V3_ADD_DEFAULT);
  if (rogue.is_ca) name_ca(leaf.get(), "example.net", "Rogue");
  sign_certificate(leaf.get(), above.get(), issuer_key.get());
  signer.chain_pem =
      split_chain(certificate_pem(leaf.get()) + issuer.certificate_pem + issuer.chain_above_pem)
          .value();
  return signer;
}

}  // namespace leasehold::test
