// Law fail-closed: a power-off that is owed is pursued until Off was read three times, across kills
// of the agent, whatever the BMC says meanwhile.
#include "agent/power_debt.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/support/running_program.h"
#include "tests/unit/agent/door_site.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

// A power button with a BMC that may ignore ForceOff, or not answer.
class Button : public BmcFactory {
 public:
  class Panel : public Bmc {
   public:
    explicit Panel(Button& button) : button_(button) {}
    Result<PowerState> power_state() override {
      ++button_.asked;
      if (!button_.answers) return Error(Code::kUnavailable, "no route to host");
      ++button_.reads;
      return button_.on ? PowerState::kOn : PowerState::kOff;
    }
    Status reset(ResetType type) override {
      if (type != ResetType::kForceOff) return Error(Code::kInternal, "nobody asked for that");
      ++button_.presses;
      if (button_.obeys) button_.on = false;
      return {};  // success is what it shows afterwards
    }
    Result<BootOverride> boot_override() override { return none(); }
    Status set_boot_override(const BootOverride&) override { return none(); }
    Result<std::vector<BmcAccount>> accounts() override { return none(); }
    Status close_account(const BmcAccount&) override { return none(); }
    Status set_password(const std::string&, const std::string&) override { return none(); }
    Result<bool> credential_works(const BmcCredential&) override { return true; }
    Status delete_other_sessions() override { return {}; }
    Result<FirmwareInventory> firmware_inventory() override { return none(); }
    Result<SystemFacts> system_facts() override { return none(); }

   private:
    static Error none() { return Error(Code::kUnsupported, "a button has none"); }
    Button& button_;
  };
  std::unique_ptr<Bmc> open(const BmcAddress&, const BmcCredential&) override {
    return std::make_unique<Panel>(*this);
  }
  Result<BmcGreeting> greet(const BmcAddress&) override { return BmcGreeting(); }

  std::atomic<bool> on{true}, obeys{true}, answers{true};
  std::atomic<int> presses{0}, asked{0}, reads{0};
};

// One life of the agent's pursuit.
class Life {
 public:
  Life(DoorSite& site, const Tools& tools) : site_(site), tools_(tools) {
    open([this](std::function<void()> task) { loop_.post(std::move(task)); });
    Engine::Options options = site_.engine_options();
    options.loop = &loop_;
    options.turns = nullptr;
    options.threads = &threads_;
    engine_ = std::make_unique<Engine>(std::move(options));
    debt_ = std::make_unique<PowerDebt>(loop_, *site_.database, *engine_, threads_, tools_);
    loop_.post([this] { debt_->start(); });
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Life() {  // as a kill leaves it: whatever is only in memory is gone
    loop_.stop();
    thread_.join();
    threads_.drain();
    open({});
    debt_.reset();
    engine_.reset();
  }

 private:
  void open(std::function<void(std::function<void()>)> deliver) {
    site_.database.reset();
    site_.database =
        Database::open({site_.folder.file("site.db"), "", std::move(deliver)}, [](Sql&) -> Status {
          return {};
        }).value();
  }
  DoorSite& site_;
  Tools tools_;
  Loop loop_;
  StepThreadPool threads_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<PowerDebt> debt_;
  std::thread thread_;
};

class Owing {
 public:
  Owing() {
    tools = site.world.tools();
    tools.bmcs = &button;
    tools.clock = &clock;
    tools.busy = &busy;
    REQUIRE(site.in([&](Sql& sql) -> Status {
                  NodeRow node = TRY(Store::node(sql, NodeId("n1")));
                  node.state = NodeState::kFailed;
                  node.failed_from = "releasing";
                  node.maintenance = true;
                  node.power_off_owed = true;
                  return Store::put(sql, node.change());
                })
                .ok());
  }
  std::unique_ptr<Life> live() {
    busy.release(NodeId("n1"));  // it is the process's
    return std::make_unique<Life>(site, tools);
  }
  bool owed() { return site.row("node", "n1")["powerOffOwed"].get<bool>(); }

  DoorSite site;
  Button button;
  VirtualTime clock;
  BusyNodes busy;
  Tools tools;
};

}  // namespace

TEST_CASE("law fail-closed: an owed power-off is paid once Off was read three times") {
  Owing owing;
  {
    auto life = owing.live();
    CHECK(eventually([&] { return !owing.owed(); }));
  }
  CHECK_FALSE(owing.button.on);
  CHECK(owing.button.presses == 1);
  CHECK(owing.button.reads == 4);  // one before, three after
  CHECK(owing.site.row("node", "n1")["offReadAt"] != "");
  CHECK(owing.site.row("node", "n1")["maintenance"] == true);
}

TEST_CASE("law fail-closed: a BMC that takes ForceOff and stays on is asked again and owes") {
  Owing owing;
  owing.button.obeys = false;
  auto life = owing.live();
  CHECK(eventually([&] { return owing.button.presses >= 2; }));
  CHECK(owing.owed());
  owing.button.obeys = true;
  CHECK(eventually([&] { return !owing.owed(); }));
}

TEST_CASE("law fail-closed: an owed power-off survives a kill of the agent") {
  Owing owing;
  owing.button.answers = false;
  {
    auto life = owing.live();
    CHECK(eventually([&] { return owing.button.asked > 0; }));
  }
  CHECK(owing.owed());
  owing.button.answers = true;
  owing.button.obeys = false;
  {
    auto life = owing.live();
    CHECK(eventually([&] { return owing.button.presses == 1; }));
  }
  CHECK(owing.owed());
  // It went off by itself meanwhile: nothing is pressed, and it counts only when it was read.
  owing.button.on = false;
  int reads = owing.button.reads;
  auto life = owing.live();
  CHECK(eventually([&] { return !owing.owed(); }));
  CHECK(owing.button.presses == 1);
  CHECK(owing.button.reads == reads + 4);
}
