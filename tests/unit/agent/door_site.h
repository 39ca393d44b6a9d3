// A site's database with one releasing node whose run has an armed ramdisk and one issued wipe
// command: what the rules of the door decide over. Certificates are real. Tests only.
#pragma once

#include <catch2/catch.hpp>

#include "agent/machine_rules.h"
#include "agent/workflows/names.h"
#include "core/base/bytes.h"
#include "tests/support/release_world.h"

namespace leasehold::test {

class DoorSite {
 public:
  DoorSite() : world(kReleaseWorkflow) {
    workflow = world.workflow(time);
    database = Database::open({folder.file("site.db"), "", {}}, [this](Sql& sql) -> Status {
                 TRY(Engine::migrate(sql));
                 TRY(world.migrate(sql));
                 return rows(sql);
               }).value();
  }

  // Runs `body` in a transaction; what it returns is the transaction's fate.
  Status in(const std::function<Status(Sql&)>& body) { return database->transact_and_wait(body); }

  Json join_body(const std::string& with_csr, const std::string& with_token) const {
    return Json{{"run", "r-law"},
                {"boot", ramdisk.boot},
                {"csr", with_csr},
                {"mac", hex_encode(hmac_sha256(with_token, csr_der(with_csr).value()))}};
  }
  Result<JoinOutcome> join(const Json& body) {
    Result<JoinOutcome> outcome = Error(Code::kInternal, "not decided");
    Status committed = in([&](Sql& sql) -> Status {
      outcome = decide_join(sql, world.tools(), body);
      return {};
    });
    REQUIRE(committed.ok());
    return outcome;
  }
  // Joins as the ramdisk does; its certificate is `chain` from then on.
  void join_well() {
    Result<JoinOutcome> joined = join(join_body(csr, token));
    REQUIRE(joined.ok());
    chain_pem = joined.value().answer["chain"].get<std::vector<std::string>>();
  }
  static std::vector<std::string> der(const std::vector<std::string>& pems) {
    std::vector<std::string> ders;
    for (const std::string& pem : pems) ders.push_back(pem_to_der(pem).value().front());
    return ders;
  }

  // A good wipe result of this run, before it is signed.
  ResultParts wipe_parts() const {
    ResultParts part = make_run(pki()).wipe;
    part.head.context = ResultContext::from_json(command.context).value();
    part.head.command = command.command;
    part.head.nonce = command.nonce;
    part.head.started_at_ms = part.head.finished_at_ms = kEpochMs;
    part.signer = {key, chain_pem};
    return part;
  }
  Json body_of(const ResultParts& part) const {
    SignedEnvelope made = sign_part(part);
    return Json{{"command", part.head.command},
                {"envelope", made.envelope.to_json()},
                {"chain", made.chain_pem}};
  }
  // Posts with the client certificate `presented`.
  Result<ResultOutcome> post(const Json& body, const std::vector<std::string>& presented) {
    Result<ResultOutcome> outcome = Error(Code::kInternal, "not decided");
    Status committed = in([&](Sql& sql) -> Status {
      outcome = decide_result(sql, world.tools(), der(presented), body);
      return {};
    });
    REQUIRE(committed.ok());
    return outcome;
  }
  // Of an engine over these rows, whose turns and threads are the virtual time's.
  Engine::Options engine_options() {
    Engine::Options made;
    made.database = database.get();
    made.clock = &time;
    made.turns = &time;
    made.threads = &time;
    made.workflows = {workflow};
    made.load = [this](Sql& sql, const RunInfo& run, Snapshot& rows) {
      return world.load(sql, run, rows);
    };
    made.apply = [this](Sql& sql, const RowChange& change) { return world.apply(sql, change); };
    made.fail_unknown = [this](const RunInfo& run, const Snapshot& rows, const Error& error) {
      return world.fail_unknown(run, rows, error);
    };
    return made;
  }
  Json row(const std::string& table, const std::string& key_of_row) {
    Json found;
    REQUIRE(in([&](Sql& sql) -> Status {
              found = TRY(Store::get(sql, table, key_of_row));
              return {};
            }).ok());
    return found;
  }
  const Pki& pki() const { return world.pki(); }

  TempFolder folder;
  VirtualTime time;
  ReleaseWorld world;
  Workflow workflow;
  KeyPair key = generate_key();
  std::string csr = make_csr(key.private_key_pem).value();
  std::string token = std::string(32, 't');
  std::vector<std::string> chain_pem;
  RamdiskRow ramdisk;
  CommandRow command;
  std::unique_ptr<Database> database;

 private:
  Status rows(Sql& sql) {
    if (!TRY(Store::get(sql, "run", "r-law")).is_null()) return {};
    const Tools& tools = world.tools();
    TRY(Store::put(sql, RowChange{"run", "r-law",
                                  Json{{"table", "run"},
                                       {"schema", 1},
                                       {"run", "r-law"},
                                       {"node", "n1"},
                                       {"state", "open"},
                                       {"generation", 4}}}));
    ramdisk.boot = "b-1";
    ramdisk.node = NodeId("n1");
    ramdisk.run = RunId("r-law");
    ramdisk.state = "armed";
    ramdisk.life_ms = kHour;
    ramdisk.boot_nonce = base64_encode("a boot nonce");
    ramdisk.sealed_token = tools.vault->seal_text(base64_encode(token), ramdisk.bound());
    TRY(Store::put(sql, ramdisk.change()));
    command.command = "r-law-p1-disk-wipe";
    command.node = NodeId("n1");
    command.run = RunId("r-law");
    command.number = 1;
    command.boot = "b-1";
    command.place = "disk.wipe/issue";
    command.verb = "disk.wipe";
    command.kind = "disk-wipe";
    command.nonce = base64_encode("a command's nonce");
    ResultContext context;
    context.site = "s1";
    context.node = "n1";
    context.generation = 4;
    context.lease = "l-1";
    context.run = "r-law";
    context.place = command.place;
    context.boot_nonce = ramdisk.boot_nonce;
    context.binding = "network";
    context.image = tools.identity->image_sha256;
    context.policy_revision = 7;
    command.context = context.to_json();
    command.args = Json{{"wipe_minimum", "purge"}, {"readback", "sample"}};
    return Store::put(sql, command.change());
  }
};

}  // namespace leasehold::test
