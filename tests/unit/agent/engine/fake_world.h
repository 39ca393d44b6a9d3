// A workflow over a world of counted effects, with every outcome a step can have: rows, a poll, an
// event, a second pass, a cleanup. What the laws are tried on before there is a real workflow.
#pragma once

#include "core/db/row_store.h"
#include "tests/support/workflow_laws.h"

namespace leasehold::test {

// `careless` breaks a law on purpose, to show that the harness sees it.
enum class Careless { kNo, kActsTwice, kForgetsCleanup, kActsInVain };

class FakeWorld : public LawWorld {
 public:
  explicit FakeWorld(Careless careless = Careless::kNo) : careless_(careless) {}

  Workflow workflow(Clock&) override {
    Workflow made;
    made.name = "fake@1";
    made.places = {place("off", [this](StepContext& step) { return off(step); }),
                   place("fence",
                         [](StepContext&) -> StepOutcome {
                           return Done{{}, {node("fenced")}, {Json{{"close", "n1"}}}};
                         }),
                   place("boot", [this](StepContext& step) { return boot(step); }),
                   place("wipe", [this](StepContext& step) { return wipe(step); }),
                   place("check", [this](StepContext& step) { return check(step); })};
    made.cleanup = {place("park", [this](StepContext& step) { return park(step); }),
                    place("sweep", [this](StepContext&) -> StepOutcome {
                      swept_ = true;
                      return Done{};
                    })};
    made.succeed = [](StepContext& step) -> Result<Done> {
      STEP_CHECK(!step.output("check").is_null(), "no-dirty-ready");
      return Done{{}, {node("ready")}, {}};
    };
    made.fail = [](StepContext&, const Error&) { return Done{{}, {node("failed")}, {}}; };
    return made;
  }
  Status migrate(Sql& sql) override {
    SystemRandom random;
    TRY(row_store::migrate(sql, random));
    Json there = TRY(row_store::get(sql, "node", "n1"));
    return there.is_null() ? row_store::put(sql, node("deployed")) : Status();
  }
  RunInfo run() override {
    RunInfo info;
    info.id = RunId("r-1");
    info.node = NodeId("n1");
    info.workflow = "fake@1";
    info.started_ms = 1'700'000'000'000;
    return info;
  }
  Status load(Sql& sql, const RunInfo& run, Snapshot& rows) override {
    rows.put("node", run.node.str(), TRY(row_store::get(sql, "node", run.node.str())));
    return {};
  }
  Status apply(Sql& sql, const RowChange& change) override { return row_store::put(sql, change); }
  Done fail_unknown(const RunInfo&, const Snapshot&, const Error&) override {
    return Done{{}, {node("failed")}, {}};
  }
  void started(Engine& engine, Database&, VirtualTime& time) override {
    engine_ = &engine;
    time_ = &time;
    if (booting_) call_home();  // the machine knows nothing of the agent's death
  }
  Json final_state(Sql& sql) override {
    Json run = row_store::get(sql, "run", "r-1").value();
    return {{"node", row_store::get(sql, "node", "n1").value()["state"]},
            {"run", run["state"]},
            {"code", run["code"]},
            {"pass", run["pass"]},
            {"power", power_},
            {"wiped", wiped_},
            {"swept", swept_},
            {"pulses", pulses_}};
  }
  std::string judge_failure(Sql& sql, const std::string& at) override {
    Json end = final_state(sql);
    if (end["run"] != "failed") return "the run is " + dump_json(end["run"]);
    if (end["code"] != "INTERNAL") return "its code is " + dump_json(end["code"]);
    if (end["node"] != "failed") return "the node is " + dump_json(end["node"]);
    if (at != "sweep" && !swept_) return "the cleanup did not run";
    if (at != "park" && power_ != "off") return "the machine is not parked";
    return "";
  }

 private:
  static Place place(const std::string& name, std::function<StepOutcome(StepContext&)> run) {
    return {name, "1", name, 120'000, std::move(run)};
  }
  static RowChange node(const std::string& state) {
    return {"node", "n1", {{"table", "node"}, {"schema", 1}, {"node", "n1"}, {"state", state}}};
  }
  StepOutcome off(StepContext&) {
    if (careless_ == Careless::kActsTwice) ++pulses_;  // acts without looking
    if (power_ == "off") return Done{};
    power_ = "off";
    return Poll{"host still on", 1000, 10'000, Code::kPowerNotOff};
  }
  StepOutcome boot(StepContext&) {
    if (power_ == "ramdisk") return Done{};
    if (!booting_) {
      booting_ = true;
      call_home();
    }
    return Await{"joined", "the call home", 100'000, Code::kRamdiskNoCallHome};
  }
  void call_home() {
    time_->after(3000, [this] {
      power_ = "ramdisk";
      booting_ = false;
      engine_->post_event(RunId("r-1"), "joined");
    });
  }
  StepOutcome wipe(StepContext& step) {
    if (power_ != "ramdisk") return Error(Code::kRamdiskLost, "no ramdisk");
    wiped_ = true;
    return Done{{{"pass", step.pass}}, {}, {}};
  }
  StepOutcome check(StepContext& step) {
    if (careless_ == Careless::kActsInVain && step.recovering) return Error(Code::kRefused, "no");
    if (step.pass == 1) return Again{"boot", "the firmware was rewritten"};
    return Done{{{"clean", true}}, {}, {}};
  }
  StepOutcome park(StepContext&) {
    if (careless_ != Careless::kForgetsCleanup) power_ = "off";
    return Done{};
  }

  const Careless careless_;
  std::string power_ = "on";
  bool booting_ = false;
  bool wiped_ = false;
  bool swept_ = false;
  int pulses_ = 0;
  Engine* engine_ = nullptr;
  VirtualTime* time_ = nullptr;
};

}  // namespace leasehold::test
