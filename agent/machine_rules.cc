#include "agent/machine_rules.h"

#include <algorithm>
#include <array>
#include <optional>

#include "agent/result_check.h"
#include "core/base/bytes.h"
#include "core/base/harmless.h"
#include "core/base/log.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

constexpr std::array<std::string_view, 14> kDoorRefusalNames = {
    "no-such-boot",   "boot-of-another-run", "boot-closed",   "boot-claimed-twice", "wrong-token",
    "run-not-open",   "generation-raised",   "not-a-ramdisk", "wrong-node",         "never-issued",
    "ramdisk-closed", "not-its-command",     "lessee",        "lessee-fenced"};
static_assert(static_cast<size_t>(DoorRefusal::kLesseeFenced) + 1 == kDoorRefusalNames.size());
constexpr size_t kReasonBytes = 400;
constexpr int64_t kClockSlackMs = 5 * 60 * 1000;

Error refused(DoorRefusal refusal, const std::string& text) {
  bool lessee = refusal == DoorRefusal::kLessee || refusal == DoorRefusal::kLesseeFenced;
  return Error(lessee ? Code::kTenantControlled : Code::kForbidden,
               std::string(door_refusal_name(refusal)) + ": " + text);
}

Result<RamdiskRow> ramdisk_by_boot(Sql& sql, const std::string& boot) {
  Json row = TRY(Store::get(sql, "ramdisk", boot));
  if (row.is_null()) return refused(DoorRefusal::kNoSuchBoot, "this site has opened no such boot");
  return RamdiskRow::parse(row);
}

// The run is open and the node is still in the generation in which the run began.
Result<NodeRow> node_of_open_run(Sql& sql, const RunId& run) {
  Json row = TRY(Store::get(sql, "run", run.str()));
  if (json_text(row, "state") != "open")
    return refused(DoorRefusal::kRunNotOpen, "this run is none of the open ones");
  NodeRow node = TRY(Store::node(sql, NodeId(json_text(row, "node"))));
  if (TRY(json_int(row, "generation")) != node.generation) {
    return refused(DoorRefusal::kGenerationRaised, "the node has another generation by now");
  }
  return node;
}

Result<RamdiskRow> ramdisk_by_serial(Sql& sql, const NodeId& node, const std::string& serial) {
  for (const Json& row : TRY(Store::of_node(sql, "ramdisk", node))) {
    RamdiskRow ramdisk = TRY(RamdiskRow::parse(row));
    if (ramdisk.serial == serial && !serial.empty()) return ramdisk;
  }
  return refused(DoorRefusal::kNeverIssued, "no ramdisk of this node was given this certificate");
}

// A tenant's certificate is a tenant's, whatever else is wrong with the request. Once its node is
// fenced (node.fencedRun), it is nobody's.
Error refused_lessee(Sql& sql, const Identity& lessee) {
  Result<NodeRow> node = Store::node(sql, NodeId(lessee.node));
  bool fenced = node.ok() &&
                (!node.value().fenced_run.empty() || node.value().generation != lessee.generation);
  if (!fenced) return refused(DoorRefusal::kLessee, "a lessee's certificate may not do this");
  return refused(DoorRefusal::kLesseeFenced,
                 "this lessee was fenced: its certificates say nothing any more");
}

Error refused_chain(const Judgement& judgement) {
  return Error(Code::kUnauthenticated,
               std::string(chain_refusal_name(judgement.refusal)) + ": " + judgement.detail);
}

Result<std::string> issue_certificate(const Tools& tools, const NodeRow& node,
                                      const RamdiskRow& ramdisk, const std::string& csr_pem) {
  const SiteIdentity& site = *tools.identity;
  LeafRequest leaf;
  leaf.identity.kind = IdentityKind::kRamdisk;
  leaf.identity.domain = site.domain;
  leaf.identity.site = site.site;
  leaf.identity.node = node.id.str();
  leaf.identity.generation = node.generation;
  leaf.identity.run = ramdisk.run.str();
  leaf.csr_pem = csr_pem;
  int64_t now_ms = tools.clock->now_ms();
  int64_t life_ms = std::min(ramdisk.life_ms, limits::kRamdiskLifeMaxMs);
  leaf.validity = Validity{now_ms - kClockSlackMs, now_ms + life_ms};
  return issue_leaf(site.site_ca, leaf);
}

Json join_answer(const RamdiskRow& ramdisk) {
  Json chain = Json::array();
  Result<std::vector<std::string>> ders = pem_to_der(ramdisk.chain_pem);
  if (ders.ok()) {
    for (const std::string& der : ders.value()) chain.push_back(der_to_pem(der));
  }
  return Json{{"chain", chain}, {"boot_nonce", ramdisk.boot_nonce}};
}

Status record_issued(Sql& sql, const Tools& tools, const RamdiskRow& ramdisk, const NodeRow& node) {
  Json row = {{"table", "issued"},        {"schema", 1},
              {"serial", ramdisk.serial}, {"node", ramdisk.node.str()},
              {"kind", "ramdisk"},        {"generation", node.generation},
              {"run", ramdisk.run.str()}, {"at", format_time(tools.clock->now_ms())}};
  return Store::put(sql, RowChange{"issued", ramdisk.serial, std::move(row)});
}

// The first join of this boot: the token is used up and the certificate issued.
Result<JoinOutcome> first_join(Sql& sql, const Tools& tools, RamdiskRow ramdisk,
                               const NodeRow& node, const std::string& csr_pem,
                               const std::string& csr_digest) {
  ramdisk.chain_pem = TRY(issue_certificate(tools, node, ramdisk, csr_pem));
  std::vector<std::string> chain = TRY(pem_to_der(ramdisk.chain_pem));
  JudgeRequest request;
  request.chain_der = chain;
  request.instant_ms = tools.clock->now_ms();
  request.verb = Verb::kRamdiskCommand;
  Judgement judgement = judge(request, tools.identity->anchors);
  if (!judgement.allowed) {
    return Error(Code::kInternal, "our own certificate is refused: " + judgement.detail);
  }
  ramdisk.serial = judgement.leaf_serial;
  ramdisk.csr_sha256 = csr_digest;
  ramdisk.state = "joined";
  TRY(Store::put(sql, ramdisk.change()));
  TRY(record_issued(sql, tools, ramdisk, node));
  return JoinOutcome{join_answer(ramdisk), ramdisk.run};
}

// The machine is ready behind a boot that somebody else had too: which of them was shown to be
// clean is not known any more.
Status quarantine(Sql& sql, const Tools& tools, NodeRow node, const RamdiskRow& ramdisk) {
  const std::string now = format_time(tools.clock->now_ms());
  const std::string code(code_name(Code::kBootClaimedTwice));
  node.state = NodeState::kFailed;
  node.failed_from = "ready";
  node.maintenance = true;
  node.power_off_owed = true;
  node.failure = Json{{"code", code},
                      {"message", "boot " + ramdisk.boot +
                                      ", whose run showed this machine clean, was claimed again "
                                      "after it was over: that evidence shows nothing any more"},
                      {"run", ramdisk.run.str()},
                      {"at", now}};
  TRY(Store::put(sql, node.change()));
  Json fields = {{"code", code}, {"run", ramdisk.run.str()}, {"boot", ramdisk.boot}};
  return Store::put(sql, event_row(random_id(*tools.random, "e"), "node.quarantined", node.id,
                                   tools.clock->now_ms(), std::move(fields)));
}

// Two machines had this boot. Its run fails if it is still open: at its next look at the ramdisk or
// at the latest where its evidence would be accepted (Store::put). If it is over, the machine that
// is ready behind it is taken out of use.
Status mark_claimed_twice(Sql& sql, const Tools& tools, RamdiskRow ramdisk) {
  ramdisk.state = "claimed-twice";
  TRY(Store::put(sql, ramdisk.change()));
  NodeRow node = TRY(Store::node(sql, ramdisk.node));
  if (node.state != NodeState::kReady || node.clean_run != ramdisk.run.str()) return {};
  return quarantine(sql, tools, std::move(node), ramdisk);
}

// Whether the CSR is authenticated by the token of this boot.
Result<bool> has_token(const Tools& tools, const RamdiskRow& ramdisk, const std::string& der,
                       const std::string& mac) {
  if (ramdisk.sealed_token.empty()) return false;
  std::string token =
      TRY(base64_decode(TRY(tools.vault->open_text(ramdisk.sealed_token, ramdisk.bound()))));
  return equal_constant_time(hex_encode(hmac_sha256(token, der)), mac);
}

// A boot that is over lets nobody in. Another CSR than the one that joined, with the right MAC,
// says all the same that a second machine has the token.
Error refused_closed(Sql& sql, const Tools& tools, const RamdiskRow& ramdisk,
                     const std::string& der, const std::string& mac, RunId* concerned) {
  Error closed =
      refused(DoorRefusal::kBootClosed, "another boot was opened since, or the run is past it");
  bool is_another = !ramdisk.csr_sha256.empty() && ramdisk.csr_sha256 != sha256_hex(der);
  Result<bool> genuine = is_another ? has_token(tools, ramdisk, der, mac) : Result<bool>(false);
  if (!genuine.ok()) return genuine.error();
  if (!genuine.value()) return closed;
  Status marked = mark_claimed_twice(sql, tools, ramdisk);
  if (!marked.ok()) return marked.error();
  if (concerned != nullptr) *concerned = ramdisk.run;
  return refused(DoorRefusal::kBootClaimedTwice,
                 "this boot is over, and its token was used by another machine");
}

// A result that is known was sent again because our answer was lost; anything else is another
// result for a done command. Nothing if none is known.
Result<std::optional<ResultOutcome>> known_result(Sql& sql, const CommandRow& command,
                                                  const Json& body) {
  Json known = TRY(Store::get(sql, "result", command.command));
  if (known.is_null()) return std::optional<ResultOutcome>();
  Result<DsseEnvelope> envelope = DsseEnvelope::from_json(json_member(body, "envelope"));
  if (envelope.ok() && json_text(known, "digest") == envelope.value().digest()) {
    return std::optional<ResultOutcome>(ResultOutcome{command.run, json_text(known, "verdict")});
  }
  return Error(Code::kEvidenceRefused, "this command has another result already", "replayed");
}

}  // namespace

std::string_view door_refusal_name(DoorRefusal refusal) {
  return kDoorRefusalNames[static_cast<size_t>(refusal)];
}

Result<RamdiskCaller> judge_ramdisk(Sql& sql, const Tools& tools,
                                    const std::vector<std::string>& chain_der, Verb verb) {
  if (chain_der.empty()) {
    return Error(Code::kUnauthenticated, "this needs the certificate of a ramdisk: join first");
  }
  JudgeRequest request;
  request.chain_der = chain_der;
  request.instant_ms = tools.clock->now_ms();
  request.verb = verb;
  Judgement judgement = judge(request, tools.identity->anchors);
  bool genuine = judgement.allowed || judgement.refusal == ChainRefusal::kKindMayNot;
  if (genuine && judgement.identity.kind == IdentityKind::kNodeTenant) {
    return refused_lessee(sql, judgement.identity);
  }
  if (!judgement.allowed) return refused_chain(judgement);
  if (judgement.identity.kind != IdentityKind::kRamdisk ||
      judgement.identity.site != tools.identity->site) {
    return refused(DoorRefusal::kNotARamdisk, "only this site's platform ramdisk may do this");
  }
  NodeRow node = TRY(node_of_open_run(sql, RunId(judgement.identity.run)));
  if (node.id.str() != judgement.identity.node) {
    return refused(DoorRefusal::kWrongNode, "this certificate's run is another node's");
  }
  if (node.generation != judgement.identity.generation) {
    return refused(DoorRefusal::kGenerationRaised, "this certificate is of another generation");
  }
  RamdiskRow ramdisk = TRY(ramdisk_by_serial(sql, node.id, judgement.leaf_serial));
  if (ramdisk.state != "joined") {
    return refused(DoorRefusal::kRamdiskClosed,
                   "another one was opened since, or the run is past it");
  }
  return RamdiskCaller{judgement.identity, ramdisk, node};
}

Result<JoinOutcome> decide_join(Sql& sql, const Tools& tools, const Json& body, RunId* concerned) {
  std::string run = TRY(json_string(body, "run"));
  std::string csr_pem = TRY(json_string(body, "csr"));
  std::string mac = TRY(json_string(body, "mac"));
  RamdiskRow ramdisk = TRY(ramdisk_by_boot(sql, TRY(json_string(body, "boot"))));
  if (ramdisk.run.str() != run)
    return refused(DoorRefusal::kBootOfAnotherRun, "the join names another run than its boot's");
  if (ramdisk.state == "claimed-twice") {
    return refused(DoorRefusal::kBootClaimedTwice, "two machines have asked for this boot");
  }
  std::string der = TRY(csr_der(csr_pem));
  if (ramdisk.state == "closed") return refused_closed(sql, tools, ramdisk, der, mac, concerned);
  NodeRow node = TRY(node_of_open_run(sql, ramdisk.run));
  if (!TRY(has_token(tools, ramdisk, der, mac))) {
    return refused(DoorRefusal::kWrongToken, "the CSR is not authenticated by this boot's token");
  }
  std::string digest = sha256_hex(der);
  if (ramdisk.state == "armed") return first_join(sql, tools, ramdisk, node, csr_pem, digest);
  if (ramdisk.csr_sha256 == digest) return JoinOutcome{join_answer(ramdisk), ramdisk.run};
  TRY(mark_claimed_twice(sql, tools, ramdisk));
  if (concerned != nullptr) *concerned = ramdisk.run;
  return refused(DoorRefusal::kBootClaimedTwice, "this boot's token was used by another machine");
}

Result<Json> open_commands(Sql& sql, const RamdiskCaller& caller, int64_t after) {
  std::vector<CommandRow> open;
  for (const Json& row : TRY(Store::of_node(sql, "command", caller.node.id))) {
    CommandRow command = TRY(CommandRow::parse(row));
    if (command.run != caller.ramdisk.run || command.boot != caller.ramdisk.boot) continue;
    if (command.number <= after) continue;
    Json result = TRY(Store::get(sql, "result", command.command));
    if (result.is_null()) open.push_back(std::move(command));
  }
  std::sort(open.begin(), open.end(),
            [](const CommandRow& a, const CommandRow& b) { return a.number < b.number; });
  Json list = Json::array();
  for (const CommandRow& command : open) {
    list.push_back(Json{{"n", command.number},
                        {"command", command.command},
                        {"run", command.run.str()},
                        {"verb", command.verb},
                        {"nonce", command.nonce},
                        {"context", command.context},
                        {"args", command.args}});
  }
  return list;
}

Result<ResultOutcome> decide_result(Sql& sql, const Tools& tools,
                                    const std::vector<std::string>& chain_der, const Json& body,
                                    RunId* concerned) {
  RamdiskCaller caller = TRY(judge_ramdisk(sql, tools, chain_der, Verb::kAttest));
  std::string id = TRY(json_string(body, "command"));
  Json row = TRY(Store::get(sql, "command", id));
  if (row.is_null()) return refused(DoorRefusal::kNotItsCommand, "there is no such command");
  CommandRow command = TRY(CommandRow::parse(row));
  if (command.run != caller.ramdisk.run || command.boot != caller.ramdisk.boot) {
    return refused(DoorRefusal::kNotItsCommand, "this command was given to another ramdisk");
  }
  std::optional<ResultOutcome> known = TRY(known_result(sql, command, body));
  if (known.has_value()) return *known;
  if (!command.refused.empty()) {
    return Error(Code::kEvidenceRefused, "this command was given up before: its step fails",
                 "given-up");
  }
  Result<CheckedResult> arrived =
      check_result(tools, caller.node, command, body, tools.clock->now_ms());
  if (!arrived.ok()) {
    TRY(refuse_command(sql, caller, id, "its result was refused: " + arrived.error().message));
    if (concerned != nullptr) *concerned = command.run;
    return arrived.error();
  }
  CheckedResult checked = std::move(arrived).value();
  TRY(Store::put(sql, checked.row.change()));
  return ResultOutcome{command.run, checked.row.verdict};
}

Status refuse_command(Sql& sql, const RamdiskCaller& caller, const std::string& id,
                      const std::string& why) {
  Json row = TRY(Store::get(sql, "command", id));
  if (row.is_null()) return refused(DoorRefusal::kNotItsCommand, "there is no such command");
  CommandRow command = TRY(CommandRow::parse(row));
  if (command.run != caller.ramdisk.run || command.boot != caller.ramdisk.boot) {
    return refused(DoorRefusal::kNotItsCommand, "this command was given to another ramdisk");
  }
  command.refused = harmless(shortened_bytes(scrubbed(why), kReasonBytes));
  return Store::put(sql, command.change());
}

Result<RunId> decide_second_claim(Sql& sql, const Tools& tools, const std::string& boot) {
  RamdiskRow ramdisk = TRY(ramdisk_by_boot(sql, boot));
  TRY(mark_claimed_twice(sql, tools, ramdisk));
  return ramdisk.run;
}

}  // namespace leasehold
