#include "agent/steps/evidence.h"

#include <algorithm>

#include "core/evidence/bundle.h"
#include "core/evidence/bundle_rows.h"

namespace leasehold {
namespace {

constexpr int64_t kTurnWaitMs = 5;
constexpr int64_t kTurnWithinMs = 600'000;

Versions versions_of(const Json& object) {
  Versions versions;
  for (const auto& [component, version] : object.items()) {
    if (version.is_string()) versions[component] = version.get<std::string>();
  }
  return versions;
}

Result<std::vector<EvidenceStep>> steps_of(const StepContext& context) {
  std::vector<EvidenceStep> steps;
  for (const Json* row : context.rows->all("step")) {
    if (json_text(*row, "state") != "done") continue;
    EvidenceStep step;
    step.place = TRY(json_string(*row, "place"));
    step.pass = TRY(json_int(*row, "pass"));
    step.attempt = TRY(json_int(*row, "attempt"));
    step.at_ms = TRY(parse_time(TRY(json_string(*row, "finishedAt"))));
    steps.push_back(std::move(step));
  }
  return steps;
}

// The accepted results with the commands they answer, in the order in which those were given.
Result<std::vector<EvidenceResult>> results_of(const StepContext& context) {
  std::vector<CommandRow> given = TRY(commands(*context.rows));
  std::sort(given.begin(), given.end(),
            [](const CommandRow& a, const CommandRow& b) { return a.number < b.number; });
  std::vector<EvidenceResult> listed;
  for (const CommandRow& command : given) {
    const Json& row = context.rows->get("result", command.command);
    if (row.is_null()) continue;
    ResultContext where = TRY(ResultContext::from_json(command.context));
    EvidenceResult result;
    result.place = where.place;
    result.pass = where.pass;
    result.attempt = where.attempt;
    result.command = command.command;
    result.nonce = command.nonce;
    result.kind = TRY(parse_result_kind(command.kind));
    result.digest = TRY(json_string(row, "digest"));
    listed.push_back(std::move(result));
  }
  return listed;
}

Result<std::vector<std::string>> boot_nonces_of(const StepContext& context) {
  std::vector<std::string> nonces(static_cast<size_t>(context.pass));
  for (const RamdiskRow& ramdisk : TRY(ramdisks(*context.rows))) {
    if (ramdisk.pass >= 1 && ramdisk.pass <= context.pass && !ramdisk.serial.empty()) {
      nonces[static_cast<size_t>(ramdisk.pass) - 1] = ramdisk.boot_nonce;
    }
  }
  return nonces;
}

Result<EvidencePolicy> evidence_policy(const PoolPolicy& policy) {
  EvidencePolicy out;
  out.pool = policy.pool.str();
  out.revision = policy.revision;
  out.firmware_baseline = policy.firmware_baseline;
  out.wipe.minimum = TRY(parse_wipe_minimum(wipe_minimum_name(policy.wipe_minimum)));
  out.wipe.readback = TRY(parse_readback_extent(readback_name(policy.readback)));
  out.minimum_binding = join_binding_name(policy.minimum_binding);
  return out;
}

std::vector<EvidenceObserver> observers() {
  return {{"bmc", "the host read Off before the ramdisk was booted and reads its power since",
           "none: the BMC was in the tenant's reach, its word is a claim"},
          {"ramdisk", "joined with the token of this power-on and signed every result",
           "network: the token crossed the provisioning network once"}};
}

Result<RunEvidence> collect(const Tools& tools, const StepContext& context) {
  TRY(ramdisk_of(context));  // nothing is signed over a boot that was claimed twice
  NodeRow node = TRY(node_of(context));
  PoolPolicy policy = TRY(policy_of(context));
  const Json& firmware = context.output("metal.firmwareCheck");
  RunEvidence evidence;
  evidence.site = tools.identity->site;
  evidence.domain = tools.identity->domain;
  evidence.node = node.id.str();
  evidence.lease = context.run.lease.str();
  evidence.generation = context.run.generation;
  evidence.run = context.run.id.str();
  evidence.workflow = context.run.workflow;
  evidence.binding = "network";
  evidence.image = tools.identity->image_sha256;
  evidence.boot_nonces = TRY(boot_nonces_of(context));
  evidence.policy = TRY(evidence_policy(policy));
  evidence.manifest = TRY(DiskManifest::from_json(node.disks));
  for (const Json& gpu : node.gpus) evidence.gpus.push_back(gpu.get<std::string>());
  evidence.steps = TRY(steps_of(context));
  evidence.results = TRY(results_of(context));
  evidence.firmware.at_wipe = FirmwareAtWipe::kBaseline;
  evidence.firmware.found = versions_of(json_member(firmware, "found"));
  evidence.firmware.listed = versions_of(json_member(firmware, "listed"));
  evidence.observers = observers();
  evidence.at_ms = tools.clock->now_ms();
  evidence.verdict = "clean";
  return evidence;
}

ResultRow evidence_row(const Tools& tools, const StepContext& context, const DsseEnvelope& envelope,
                       const std::vector<std::string>& chain) {
  ResultRow row;
  row.result = context.run.id.str() + "-evidence";
  row.node = context.run.node;
  row.run = context.run.id;
  row.pass = context.pass;
  row.place = context.place;
  row.kind = "run";
  row.digest = envelope.digest();
  row.verdict = "clean";
  row.envelope = envelope.to_json();
  row.chain = chain;
  row.at = format_time(tools.clock->now_ms());
  return row;
}

Result<Done> sign_at(const Tools& tools, const StepContext& context,
                     const EvidenceChain::Head& head) {
  RunEvidence evidence = TRY(collect(tools, context));
  evidence.seq = head.seq + 1;
  evidence.prev = head.digest;
  const SiteIdentity& site = *tools.identity;  // key and chain of one renewal
  DsseEnvelope envelope = TRY(sign_run_evidence(site.agent_key_pem, evidence));
  std::vector<std::string> chain = TRY(split_chain(site.agent_chain_pem));
  ResultRow row = evidence_row(tools, context, envelope, chain);
  Json state = {{"table", "site_state"},
                {"schema", 1},
                {"name", "evidence-chain"},
                {"seq", evidence.seq},
                {"digest", row.digest}};
  Json notice = {{"type", "evidence-chain"},
                 {"run", context.run.id.str()},
                 {"seq", evidence.seq},
                 {"digest", row.digest}};
  return Done{Json{{"digest", row.digest}, {"seq", evidence.seq}},
              {row.change(), RowChange{"site_state", "evidence-chain", std::move(state)}},
              {std::move(notice)}};
}

}  // namespace

// The instant is when the site signed it: its certificates are short-lived, and a machine may be
// parked long after.
Status verify_run(const Tools& tools, const RunId& run, const std::vector<ResultRow>& all) {
  std::vector<ResultRow> rows;
  int64_t instant_ms = 0;
  for (const ResultRow& row : all) {
    if (row.run != run) continue;
    if (row.kind == "run") instant_ms = TRY(parse_time(row.at));
    rows.push_back(row);
  }
  std::string bundle = TRY(bundle_of(rows));
  Checked<VerifiedBundle> verified = verify_bundle(bundle, tools.identity->anchors, instant_ms);
  if (verified.ok()) return {};
  return Error(Code::kWipeUnverified, "the run's evidence is refused: " + verified.error().text());
}

StepOutcome sign_evidence(const Tools& tools, StepContext& context) {
  std::optional<EvidenceChain::Head> head = tools.chain->try_take(context.run.id);
  if (!head.has_value()) {
    return Poll{"another run signs its evidence", kTurnWaitMs, kTurnWithinMs, Code::kInternal};
  }
  Result<Done> signed_run = sign_at(tools, context, *head);
  if (signed_run.ok()) return std::move(signed_run).value();
  tools.chain->give_back(context.run.id);
  return signed_run.error();
}

StepOutcome exit_tenant_root(const Tools& tools, StepContext& context) {
  Result<NodeRow> loaded = node_of(context);
  if (!loaded.ok()) return loaded.error();
  Result<LeaseRow> lease = lease_of(context);
  if (!lease.ok()) return lease.error();
  Result<std::vector<ResultRow>> rows = results(*context.rows);
  if (!rows.ok()) return rows.error();
  NodeRow& node = loaded.value();
  STEP_CHECK(node.state == NodeState::kReleasing, "trust-first: exit only from a release");
  STEP_CHECK(node.fenced_run == context.run.id.str(), "trust-first: the tenant is fenced");
  STEP_CHECK(node.generation == context.run.generation, "generation-rises: none since the start");
  STEP_CHECK(node.lease == context.run.lease && node.tenant_root, "the lease is this run's");
  STEP_CHECK(lease.value().exit_generation == 0, "generation-rises: a lease is left once");
  STEP_CHECK(!context.output("metal.rotateBmcCredential").is_null(), "the password was rotated");
  Status verified = verify_run(tools, context.run.id, rows.value());
  if (!verified.ok()) return verified.error();

  Result<RamdiskRow> ramdisk = ramdisk_of(context);
  if (!ramdisk.ok()) return ramdisk.error();
  node.generation += 1;
  node.trust = Trust::kPlatform;
  node.tenant_root = false;
  node.lease = LeaseId();
  node.clean_run = context.run.id.str();
  node.role.clear();
  node.release_wipe.clear();
  node.inventory = json_member(context.output("metal.ensureRamdisk/inventory"), "inventory");
  lease.value().exit_generation = node.generation;
  lease.value().ended_at = format_time(tools.clock->now_ms());
  ramdisk.value().state = "closed";
  Done done;
  done.rows = {
      node.change(), lease.value().change(), ramdisk.value().change(),
      event_of(tools, context, "node.tenant-root.exited", Json{{"generation", node.generation}})};
  done.output = Json{{"generation", node.generation}};
  done.notices.push_back(Json{{"type", "close-node"}, {"node", node.id.str()}});
  return done;
}

Result<Done> ready_rows(const Tools& tools, StepContext& context) {
  NodeRow node = TRY(node_of(context));
  if (node.clean_run.empty()) {
    return Error(Code::kInternal, "no-dirty-ready: no run's evidence was accepted for this node");
  }
  TRY(verify_run(tools, RunId(node.clean_run), TRY(results(*context.rows))));
  node.state = NodeState::kReady;
  node.failed_from.clear();
  node.failure = Json();
  node.fenced_run.clear();
  node.power_off_owed = false;
  Done done;
  done.rows = {node.change(), event_of(tools, context, "node.ready",
                                       Json{{"generation", node.generation},
                                            {"evidence", node.clean_run},
                                            {"cleared", false}})};
  return done;
}

}  // namespace leasehold
