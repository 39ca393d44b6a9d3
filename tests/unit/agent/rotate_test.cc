// metal.rotateBmcCredential against BMCs of every honesty (quirks A10 to A12). Law credential-kept:
// whatever happens, what opens the BMC is kept.
#include <catch2/catch.hpp>

#include "agent/steps/rotate.h"
#include "agent/workflows/names.h"
#include "tests/support/release_world.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

// Seals, then applies, on the rows of one releasing node.
class Rotating {
 public:
  Rotating() : world(kReleaseWorkflow) {
    workflow = world.workflow(time);
    database = Database::open({folder.file("r.db"), "", {}}, [this](Sql& sql) -> Status {
                 TRY(Engine::migrate(sql));
                 return world.migrate(sql);
               }).value();
  }
  StepOutcome apply() {
    StepOutcome sealed = rotate_seal(world.tools(), fresh_context());
    commit(sealed);
    seal_output_ = std::get<Done>(sealed).output;
    return again();
  }
  StepOutcome again(bool recovering = false) {
    StepContext& context = fresh_context();
    context.recovering = recovering;
    return rotate_apply(world.tools(), context);
  }
  void commit(const StepOutcome& outcome) {
    const Done* done = std::get_if<Done>(&outcome);
    REQUIRE(done != nullptr);
    put(done->rows);
  }
  void put(const std::vector<RowChange>& rows) {
    Status stored = database->transact_and_wait([&](Sql& sql) -> Status {
      for (const RowChange& change : rows) TRY(Store::put(sql, change));
      return {};
    });
    INFO((stored.ok() ? "" : stored.error().text()));
    REQUIRE(stored.ok());
  }
  // The failure's rows are committed, as the workflow's fail does.
  // A Poll stands for what it becomes when its time is over.
  Code fail(const StepOutcome& outcome) {
    const Error* error = std::get_if<Error>(&outcome);
    const Poll* poll = std::get_if<Poll>(&outcome);
    REQUIRE((error != nullptr || poll != nullptr));
    Code code = error != nullptr ? error->code : poll->code;
    put(rotation_failure_rows(fresh_context(), code));
    return code;
  }
  // How many versions are alive, and whether one of them opens the BMC.
  std::pair<int, bool> kept() {
    int alive = 0;
    bool opens = false;
    Credentials credentials = credentials_of(fresh_context()).value();
    credentials.pending.push_back(*credentials.confirmed);
    credentials.pending.insert(credentials.pending.end(), credentials.refused.begin(),
                               credentials.refused.end());
    for (const VaultVersion& version : credentials.pending) {
      ++alive;
      std::string password = world.tools().vault->password_of(version).value();
      opens = opens || password == world.machine().password;
    }
    return {alive, opens};
  }
  StepContext& fresh_context() {
    auto rows = std::make_shared<Snapshot>();
    REQUIRE(
        database->transact_and_wait([&](Sql& sql) { return world.load(sql, world.run(), *rows); })
            .ok());
    context_ = StepContext();
    context_.run = world.run();
    context_.rows = rows;
    outputs_["metal.rotateBmcCredential/seal"] = seal_output_;
    context_.outputs = &outputs_;
    context_.clock = &time;
    context_.memory = std::make_shared<Json>(Json::object());
    return context_;
  }

  TempFolder folder;
  VirtualTime time;
  ReleaseWorld world;
  Workflow workflow;
  std::unique_ptr<Database> database;

 private:
  StepContext context_;
  Json seal_output_;
  std::map<std::string, Json> outputs_;
};

}  // namespace

TEST_CASE("law credential-kept: a rotation that works leaves the new password alone") {
  Rotating rotating;
  std::string old = rotating.world.machine().password;
  rotating.commit(rotating.apply());
  CHECK(rotating.world.machine().password != old);
  CHECK(rotating.kept() == std::pair(1, true));
}

TEST_CASE("law credential-kept: refused, the old one stays current and the new one is kept") {
  Rotating rotating;
  rotating.world.machine().on_set_password = FakeMachine::OnSetPassword::kRefuse;
  CHECK(rotating.fail(rotating.apply()) == Code::kRotationRefused);
  CHECK(rotating.kept() == std::pair(2, true));  // it may be taken later all the same (A11)
}

TEST_CASE("law credential-kept: answered success and not applied (yet) keeps both (quirk A11)") {
  Rotating rotating;
  rotating.world.machine().on_set_password = FakeMachine::OnSetPassword::kPretend;
  CHECK(rotating.fail(rotating.apply()) == Code::kRotationSplit);
  CHECK(rotating.kept() == std::pair(2, true));
}

TEST_CASE("a password that was taken although the BMC said no is found out by trying") {
  Rotating rotating;
  rotating.world.machine().on_set_password = FakeMachine::OnSetPassword::kApplyAndRefuse;
  rotating.commit(rotating.apply());
  CHECK(rotating.kept() == std::pair(1, true));
}

TEST_CASE("law credential-kept: an old password that still opens the BMC is ROTATION_SPLIT") {
  Rotating rotating;
  rotating.world.machine().also_opens = rotating.world.machine().password;
  CHECK(rotating.fail(rotating.apply()) == Code::kRotationSplit);
  CHECK(rotating.kept() == std::pair(2, true));
}

TEST_CASE("law credential-kept: neither opens the BMC is ROTATION_SPLIT, and all are kept") {
  Rotating rotating;
  rotating.world.machine().on_set_password = FakeMachine::OnSetPassword::kGarble;
  CHECK(rotating.fail(rotating.apply()) == Code::kRotationSplit);
  CHECK(rotating.kept() == std::pair(2, false));
}

TEST_CASE("law credential-kept: killed after the send, the new password is found on the way back") {
  Rotating rotating;
  StepOutcome lost = rotating.apply();  // its rows are never committed
  REQUIRE(std::holds_alternative<Done>(lost));
  rotating.commit(rotating.again(true));
  CHECK(rotating.kept() == std::pair(1, true));
}

TEST_CASE("law credential-kept: three rotations without a known end keep three versions") {
  Rotating rotating;
  rotating.world.machine().also_opens = rotating.world.machine().password;
  CHECK(rotating.fail(rotating.apply()) == Code::kRotationSplit);
  CHECK(rotating.fail(rotating.apply()) == Code::kRotationSplit);
  CHECK(rotating.kept().first == 3);
  CHECK(rotating.fail(rotating.apply()) == Code::kRotationSplit);
  CHECK(rotating.kept() == std::pair(3, true));
  // The BMC forgets the old one at last.
  rotating.world.machine().also_opens.clear();
  rotating.commit(rotating.apply());
  CHECK(rotating.kept() == std::pair(1, true));
}

TEST_CASE("law credential-kept: a BMC that forgets the new password is opened with the last one") {
  Rotating rotating;
  std::string first = rotating.world.machine().password;
  rotating.commit(rotating.apply());
  CHECK(credentials_of(rotating.fresh_context()).value().alive() == 2);
  rotating.world.machine().password = first;  // a reset to what it had before
  auto bmc = open_bmc(rotating.world.tools(), rotating.fresh_context());
  REQUIRE(bmc.ok());
  CHECK(bmc.value()->power_state().ok());
  // The next rotation goes through it, and keeps it: the other one was not known any more.
  rotating.commit(rotating.apply());
  Credentials kept = credentials_of(rotating.fresh_context()).value();
  CHECK(rotating.kept() == std::pair(1, true));
  REQUIRE(kept.superseded.has_value());
  CHECK(rotating.world.tools().vault->password_of(*kept.superseded).value() == first);
  CHECK(kept.alive() == 2);
}

TEST_CASE("law credential-kept: one superseded password is kept until the next rotation ends") {
  Rotating rotating;
  rotating.commit(rotating.apply());
  std::string second = rotating.world.machine().password;
  rotating.world.machine().on_set_password = FakeMachine::OnSetPassword::kRefuse;
  CHECK(rotating.fail(rotating.apply()) == Code::kRotationRefused);
  CHECK(credentials_of(rotating.fresh_context()).value().alive() == 3);
  rotating.world.machine().on_set_password = FakeMachine::OnSetPassword::kApply;
  rotating.commit(rotating.apply());
  Credentials kept = credentials_of(rotating.fresh_context()).value();
  REQUIRE(kept.superseded.has_value());
  CHECK(rotating.world.tools().vault->password_of(*kept.superseded).value() == second);
  CHECK(kept.alive() == 2);
}

TEST_CASE("bmc.sweep: an account that is not ours is closed, once") {
  Rotating rotating;
  StepOutcome swept = sweep_sessions(rotating.world.tools(), rotating.fresh_context());
  REQUIRE(std::holds_alternative<Done>(swept));
  CHECK(std::get<Done>(swept).output["accountsClosed"] == 1);
  CHECK(rotating.world.machine().other_accounts.empty());
  CHECK(rotating.world.machine().closings == 1);
}

TEST_CASE("bmc.sweep: an account that stays is BMC_ACCOUNT_LEFT, and it is not sent again") {
  Rotating rotating;
  rotating.world.machine().keeps_accounts = true;
  StepContext& context = rotating.fresh_context();
  for (int looks = 0; looks < 3; ++looks) {
    StepOutcome swept = sweep_sessions(rotating.world.tools(), context);
    REQUIRE(std::holds_alternative<Poll>(swept));
    CHECK(std::get<Poll>(swept).code == Code::kBmcAccountLeft);
  }
  CHECK(rotating.world.machine().closings == 1);
}

TEST_CASE("bmc.sweep: a list that is not whole shows nothing") {
  Rotating rotating;
  rotating.world.machine().other_accounts.clear();
  rotating.world.machine().hides_accounts = true;
  StepOutcome swept = sweep_sessions(rotating.world.tools(), rotating.fresh_context());
  REQUIRE(std::holds_alternative<Poll>(swept));
  CHECK(std::get<Poll>(swept).code == Code::kBmcAccountLeft);
}

TEST_CASE("bmc.sweep: a second account of our name is nobody's that is known") {
  Rotating rotating;
  NodeRow node = node_of(rotating.fresh_context()).value();
  rotating.world.machine().other_accounts = {{"4", "/accounts/4", node.bmc_user, "", true}};
  StepOutcome swept = sweep_sessions(rotating.world.tools(), rotating.fresh_context());
  REQUIRE(std::holds_alternative<Error>(swept));
  CHECK(std::get<Error>(swept).code == Code::kBmcAccountLeft);
}

TEST_CASE("bmc.sweep: a disabled account lets nobody in and stays") {
  Rotating rotating;
  rotating.world.machine().other_accounts = {{"4", "/accounts/4", "idle", "", false}};
  CHECK(std::holds_alternative<Done>(
      sweep_sessions(rotating.world.tools(), rotating.fresh_context())));
  CHECK(rotating.world.machine().closings == 0);
}
