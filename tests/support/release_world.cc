#include "tests/support/release_world.h"

#include "agent/machine_rules.h"
#include "agent/steps/evidence.h"
#include "agent/workflows/all.h"
#include "agent/workflows/failure.h"
#include "agent/workflows/names.h"
#include "core/base/bytes.h"

namespace leasehold::test {
namespace {

constexpr const char* kNode = "n1";
constexpr const char* kPool = "h100";
constexpr const char* kLease = "l-1";
constexpr const char* kCleanRun = "r-1";  // of evidence_fixture.h
constexpr int64_t kRamdiskEveryMs = 50;

// What every beginning has in common: the machine, and who drives it.
NodeRow machine_row() {
  NodeRow node;
  node.id = NodeId(kNode);
  node.site = "s1";
  node.pool = PoolId(kPool);
  node.bmc_url = "https://bmc.example.net";
  node.bmc_user = "admin";
  node.bmc_tls_pin = std::string(64, 'a');
  node.boot_mac = "52:54:00:77:00:10";
  node.disks = make_manifest().to_json();
  node.gpus = Json{"1000", "1001"};
  return node;
}

NodeRow leased() {
  NodeRow node = machine_row();
  node.state = NodeState::kReleasing;
  node.trust = Trust::kTenantControlled;
  node.generation = 4;
  node.tenant_root = true;
  node.release_wipe = "secure-erase";
  node.role = "dedicated";
  node.lease = LeaseId(kLease);
  return node;
}

// As a release leaves it whose exit has committed.
NodeRow given_back(NodeState state) {
  NodeRow node = machine_row();
  node.state = state;
  node.trust = Trust::kPlatform;
  node.generation = 5;
  node.clean_run = kCleanRun;
  return node;
}

NodeRow exited() {
  NodeRow node = given_back(NodeState::kReleasing);
  node.failed_from = "releasing";
  node.maintenance = true;
  node.power_off_owed = true;
  return node;
}

// From its box: nothing is known but where its BMC is.
NodeRow enrolling() {
  NodeRow node;
  node.id = NodeId(kNode);
  node.site = "s1";
  node.pool = PoolId(kPool);
  node.state = NodeState::kEnrolling;
  node.trust = Trust::kPlatform;
  node.generation = 1;
  node.bmc_url = "https://bmc.example.net";
  node.bmc_user = "admin";
  return node;
}

Json policy_row() {
  return Json{{"table", "pool_policy"},
              {"schema", 1},
              {"pool", kPool},
              {"revision", 7},
              {"agent", "ramdisk"},
              {"policy",
               {{"hardwareProfile", "gpu-redfish"},
                {"tenantRoot", true},
                {"firmwareBaseline", {{"bmc", "1.12.0"}, {"bios", "2.4.1"}}}}}};
}

Json profile_row() {
  return Json{{"table", "hardware_profile"},
              {"schema", 1},
              {"profile", "gpu-redfish"},
              {"revision", 1},
              {"driver", "redfish"},
              {"components", {{"bmc", {{"ids", {"BMC"}}}}, {"bios", {{"ids", {"BIOS"}}}}}}};
}

// put() asserts the laws of a change, and a releasing node cannot be born: past it.
Status put_first(Sql& sql, const RowChange& change) { return row_store::put(sql, change); }

}  // namespace

ReleaseWorld::ReleaseWorld(std::string workflow) : workflow_(std::move(workflow)) {
  static const Pki kPki = make_pki();  // made once: only its keys are slow
  pki_ = kPki;
  TempFolder folder;
  Status made = Vault::create_key_file(folder.file("vault.key"), random_);
  LEASEHOLD_CHECK(made.ok(), "a vault key");
  vault_ = std::make_unique<Vault>(Vault::open(folder.file("vault.key"), random_).value());
  Signer agent = pki_.sign_in(site_agent_identity());
  identity_.site = "s1";
  identity_.domain = "example.net";
  identity_.anchors = pki_.anchors();
  identity_.site_ca = pki_.site_ca;
  for (const std::string& pem : agent.chain_pem) identity_.agent_chain_pem += pem;
  identity_.agent_key_pem = agent.key.private_key_pem;
  identity_.image_sha256 = sha256_hex("image");
  machine_.password = "as-it-was-1";
  machine_.firmware = {{"BMC", "1.12.0"}, {"BIOS", "2.4.1"}, {"CPLD", "7"}};
  tools_.bmcs = &machine_;
  tools_.boot = &machine_;
  tools_.vault = vault_.get();
  tools_.random = &random_;
  tools_.identity = &identity_;
  tools_.busy = &busy_;
  tools_.chain = &chain_;
  tools_.sightings = &sightings_;
  for (const Workflow& known : all_workflows(tools_)) {
    if (known.name == workflow_) beginning_ = known.begins_with;
  }
  machine_.on = beginning_ != kBeginsReady;
  machine_.must_change = beginning_ == kBeginsEnrolling;
}

NodeRow ReleaseWorld::first_node() const {
  if (beginning_ == kBeginsLeased) return leased();
  if (beginning_ == kBeginsExited) return exited();
  if (beginning_ == kBeginsEnrolling) return enrolling();
  if (beginning_ == kBeginsReady) return given_back(NodeState::kReady);
  LEASEHOLD_CHECK(false, "a beginning that this world knows: " + beginning_);
  return {};
}

Workflow ReleaseWorld::workflow(Clock& clock) {
  tools_.clock = &clock;
  for (Workflow& workflow : all_workflows(tools_)) {
    if (workflow.name == workflow_) return workflow;
  }
  LEASEHOLD_CHECK(false, "the agent knows " + workflow_);
  return {};
}

Status ReleaseWorld::migrate(Sql& sql) {
  TRY(row_store::migrate(sql, random_));
  Json chain = TRY(row_store::get(sql, "site_state", "evidence-chain"));
  EvidenceChain::Head head;
  if (!chain.is_null()) head = {chain["seq"].get<int64_t>(), json_text(chain, "digest")};
  chain_.start_at(head);
  chain_.give_back(run().id);
  if (!TRY(row_store::get(sql, "node", kNode)).is_null()) return {};
  return first_rows(sql);
}

Status ReleaseWorld::first_rows(Sql& sql) {
  NodeRow node = first_node();
  VaultVersion like;
  like.node = node.id;
  like.bmc_url = node.bmc_url;
  like.account = "admin";
  like.protocol = "redfish";
  VaultVersion version = vault_->new_version(like, 1, machine_.password, "");
  version.state = VersionState::kConfirmed;
  TRY(put_first(sql, node.change()));
  TRY(put_first(sql, version.change()));
  TRY(put_first(sql, RowChange{"pool_policy", kPool, policy_row()}));
  TRY(put_first(sql, RowChange{"hardware_profile", "gpu-redfish", profile_row()}));
  if (beginning_ != kBeginsEnrolling) {
    LeaseRow lease;
    lease.id = LeaseId(kLease);
    lease.node = node.id;
    lease.tenant = TenantId("acme");
    lease.generation = 4;
    if (node.lease.empty()) lease.exit_generation = node.generation;
    TRY(put_first(sql, lease.change()));
  }
  return node.clean_run.empty() ? Status() : evidence_rows(sql);
}

// Of the run that showed the machine clean.
Status ReleaseWorld::evidence_rows(Sql& sql) {
  Bundle bundle = sign_bundle(make_run(pki_));
  std::vector<SignedEnvelope> all = bundle.results;
  all.push_back(bundle.evidence);
  for (size_t i = 0; i < all.size(); ++i) {
    bool evidence = i + 1 == all.size();
    ResultRow row;
    row.result = std::string(kCleanRun) + "-" + std::to_string(i);
    row.node = NodeId(kNode);
    row.run = RunId(kCleanRun);
    row.kind = evidence ? "run" : "part";
    row.digest = all[i].envelope.digest();
    row.verdict = evidence ? "clean" : "PASS";
    row.envelope = all[i].envelope.to_json();
    row.chain = all[i].chain_pem;
    row.at = format_time(kNow);
    TRY(put_first(sql, row.change()));
  }
  return {};
}

RunInfo ReleaseWorld::run() {
  NodeRow node = first_node();
  RunInfo run;
  run.id = RunId("r-law");
  run.node = node.id;
  run.lease = node.lease;
  run.work = WorkId("w-1");
  run.workflow = workflow_;
  run.generation = node.generation;
  return run;
}

Status ReleaseWorld::load(Sql& sql, const RunInfo& run, Snapshot& rows) {
  return Store::load(sql, run, rows);
}

Status ReleaseWorld::apply(Sql& sql, const RowChange& change) {
  return Store::put_of_step(sql, change);
}

Done ReleaseWorld::fail_unknown(const RunInfo& run, const Snapshot& rows, const Error& error) {
  StepContext context;
  context.run = run;
  context.rows = std::make_shared<Snapshot>(rows);
  return failure_rows(tools_, context, error);
}

void ReleaseWorld::started(Engine& engine, Database& database, VirtualTime& time) {
  engine_ = &engine;
  database_ = &database;
  time_ = &time;
  time_->after(kRamdiskEveryMs, [this] { pump(); });
}

// What the ramdisk does when it gets a chance.
void ReleaseWorld::pump() {
  if (machine_.ramdisk && machine_.ramdisk->chain_pem.empty()) join();
  if (machine_.ramdisk && !machine_.ramdisk->chain_pem.empty()) answer_commands();
  time_->after(kRamdiskEveryMs, [this] { pump(); });
}

void ReleaseWorld::join() {
  FakeMachine::Ramdisk& ramdisk = *machine_.ramdisk;
  std::string token = base64_decode(json_text(ramdisk.document, "token")).value();
  std::string mac = hex_encode(hmac_sha256(token, csr_der(ramdisk.csr_pem).value()));
  Json body = {{"run", ramdisk.document["run"]},
               {"boot", ramdisk.document["boot"]},
               {"csr", ramdisk.csr_pem},
               {"mac", mac}};
  Json answer;
  Status joined = database_->transact_and_wait([&](Sql& sql) -> Status {
    answer = TRY(decide_join(sql, tools_, body)).answer;
    return {};
  });
  if (!joined.ok()) return;
  ramdisk.chain_pem = answer["chain"].get<std::vector<std::string>>();
  engine_->post_event(run().id, "ramdisk.joined");
}

void ReleaseWorld::answer_commands() {
  std::vector<std::string> chain;
  for (const std::string& pem : machine_.ramdisk->chain_pem) {
    chain.push_back(pem_to_der(pem).value().front());
  }
  Json open = Json::array();
  Status looked = database_->transact_and_wait([&](Sql& sql) -> Status {
    RamdiskCaller caller = TRY(judge_ramdisk(sql, tools_, chain, Verb::kRamdiskCommand));
    open = TRY(open_commands(sql, caller, 0));
    return {};
  });
  if (!looked.ok()) return;
  for (const Json& command : open) {
    Json& kept = machine_.ramdisk->answers[json_text(command, "command")];
    if (kept.is_null()) kept = answer(command);
    Status posted = database_->transact_and_wait([&](Sql& sql) -> Status {
      TRY(decide_result(sql, tools_, chain, kept));
      return {};
    });
    if (posted.ok()) engine_->post_event(run().id, "result");
  }
}

Json ReleaseWorld::answer(const Json& command) {
  static const RunParts kParts = make_run(pki_);
  std::string verb = json_text(command, "verb");
  ResultParts part = verb == "inventory"   ? kParts.inventory
                     : verb == "disk.wipe" ? kParts.wipe
                                           : kParts.diagnosis;
  part.head.context = ResultContext::from_json(command["context"]).value();
  part.head.command = json_text(command, "command");
  part.head.nonce = json_text(command, "nonce");
  part.head.started_at_ms = tools_.clock->now_ms();
  part.head.finished_at_ms = tools_.clock->now_ms();
  if (part.kind != ResultKind::kDiskWipe) part.subjects = {part.head.context.node_subject()};
  if (verb == "disk.wipe") machine_.wiped = true;
  part.signer = {machine_.ramdisk->key, machine_.ramdisk->chain_pem};
  SignedEnvelope signed_result = sign_part(part);
  return Json{{"command", part.head.command},
              {"envelope", signed_result.envelope.to_json()},
              {"chain", signed_result.chain_pem}};
}

Json ReleaseWorld::final_state(Sql& sql) {
  Json node = Store::get(sql, "node", kNode).value();
  Json lease = Store::get(sql, "lease", kLease).value();
  Json kept;
  for (const char* field :
       {"state", "failedFrom", "maintenance", "trust", "generation", "fencedRun", "tenantRoot",
        "role", "powerOffOwed", "lease", "cleanRun", "failure", "hardwareKey", "disks", "gpus",
        "bmc", "bootMac", "driver"}) {
    kept[field] = node[field];
  }
  kept["exitGeneration"] = json_member(lease, "exitGeneration");
  Json versions = Json::object();
  for (const Json& row : Store::all(sql, "vault").value()) {
    versions[json_text(row, "state")] = versions.value(json_text(row, "state"), 0) + 1;
    VaultVersion version = VaultVersion::parse(row).value();
    if (version.state != VersionState::kConfirmed) continue;
    kept["vaultOpensBmc"] = vault_->password_of(version).value() == machine_.password;
  }
  kept["vault"] = versions;
  kept["machine"] = {{"on", machine_.on},
                     {"wiped", machine_.wiped},
                     {"otherAccounts", machine_.other_accounts.size()},
                     {"armed", !machine_.armed.is_null()},
                     {"override", boot_target_name(machine_.next_boot.target)}};
  return kept;
}

std::string ReleaseWorld::judge_failure(Sql& sql, const std::string& place) {
  NodeRow first = first_node();
  NodeRow node = NodeRow::parse(Store::get(sql, "node", kNode).value()).value();
  Json lease = Store::get(sql, "lease", kLease).value();
  bool left = json_int_or(lease, "exitGeneration", 0).value_or(0) != 0;
  std::string row = " after " + place + ": " + dump_json(node.change().row);
  if (node.state != NodeState::kFailed || !node.maintenance || !node.power_off_owed ||
      node.failed_from != node_state_name(first.state)) {
    return "fail-closed" + row;
  }
  bool platform = first.trust == Trust::kPlatform || left;
  if ((node.trust == Trust::kPlatform) != platform ||
      node.tenant_root != (first.tenant_root && !left)) {
    return "trust-first" + row;
  }
  bool opens = false;
  int confirmed = 0;
  for (const Json& version_row : Store::all(sql, "vault").value()) {
    VaultVersion version = VaultVersion::parse(version_row).value();
    if (version.state == VersionState::kDead) continue;
    if (version.state == VersionState::kConfirmed) ++confirmed;
    if (vault_->password_of(version).value() == machine_.password) opens = true;
  }
  if (confirmed != 1 || !opens) return "credential-kept after " + place;
  for (const Json& ramdisk : Store::all(sql, "ramdisk").value()) {
    if (json_text(ramdisk, "state") != "closed") return "an open ramdisk is left after " + place;
  }
  // Whatever happened, the cleanup has run; only its own failure may leave what it would remove.
  if (place == "boot.cleanUp") return "";
  if (!machine_.armed.is_null()) return "bootd is armed after " + place;
  if (machine_.next_boot.target != BootSourceOverrideTarget::kNone) {
    return "a boot override is left after " + place;
  }
  return "";
}

}  // namespace leasehold::test
