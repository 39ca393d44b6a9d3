#include "agent/power_debt.h"

#include <algorithm>

#include "agent/steps/support.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

// One try: read, ForceOff if it is on, read again. Off counts when it is read twice.
Status try_power_off(const Tools& tools, const StepContext& context) {
  std::unique_ptr<Bmc> bmc = TRY(open_bmc(tools, context));
  PowerState state = TRY(bmc->power_state());
  if (state != PowerState::kOff) {
    TRY(bmc->reset(ResetType::kForceOff));
    state = TRY(bmc->power_state());
  }
  if (state == PowerState::kOff) state = TRY(bmc->power_state());
  if (state == PowerState::kOff) return {};
  return Error(Code::kPowerNotOff,
               "the host reads " + std::string(power_state_name(state)) + " after ForceOff");
}

}  // namespace

PowerDebt::PowerDebt(Loop& loop, Database& database, Engine& engine, StepThreads& threads,
                     const Tools& tools)
    : loop_(loop), database_(database), engine_(engine), threads_(threads), tools_(tools) {}

void PowerDebt::look() {
  auto owing = std::make_shared<std::vector<NodeId>>();
  auto find = [owing](Sql& sql) -> Status {
    for (const Json& row : TRY(Store::all(sql, "node"))) {
      // A row that does not say is a row that owes.
      bool owes = json_bool_or(row, "powerOffOwed", true).value_or(true);
      if (owes) owing->push_back(NodeId(json_text(row, "node")));
    }
    return {};
  };
  database_.transact(find, [this, owing](Status found) {
    if (!found.ok()) return;
    for (const NodeId& node : *owing) consider(node);
  });
}

void PowerDebt::consider(const NodeId& node) {
  Debt& debt = debts_[node];
  if (debt.under_way || engine_.has_open_run(node)) return;
  if (!tools_.busy->try_hold(node)) return;
  debt.under_way = true;
  auto rows = std::make_shared<Snapshot>();
  RunInfo nobody;
  nobody.node = node;
  auto load = [nobody, rows](Sql& sql) { return Store::load(sql, nobody, *rows); };
  database_.transact(load, [this, node, rows](Status loaded) {
    if (!loaded.ok()) return settled(node, false, loaded.error().text());
    attempt(node, rows);
  });
}

void PowerDebt::attempt(const NodeId& node, std::shared_ptr<Snapshot> rows) {
  threads_.start([this, node, rows] {
    StepContext context;
    context.run.node = node;
    context.rows = rows;
    context.clock = tools_.clock;
    context.memory = std::make_shared<Json>(Json::object());
    Status off = try_power_off(tools_, context);
    std::string problem = off.ok() ? "" : scrubbed(off.error().text());
    loop_.post([this, node, ok = off.ok(), problem] { settled(node, ok, problem); });
  });
}

void PowerDebt::settled(const NodeId& node, bool off, const std::string& problem) {
  if (!off) {
    log_line(LogEvent::kPowerOffOwed, Json{{"node", node.str()}, {"message", problem}});
    tools_.busy->release(node);
    return retry_later(node);
  }
  auto pay = [this, node](Sql& sql) -> Status {
    NodeRow row = TRY(Store::node(sql, node));
    row.power_off_owed = false;
    TRY(Store::put(sql, row.change()));
    return Store::put(sql, event_row(random_id(*tools_.random, "e"), "node.power-off-paid", node,
                                     tools_.clock->now_ms(), Json::object()));
  };
  database_.transact(pay, [this, node](Status paid) {
    tools_.busy->release(node);
    if (!paid.ok()) return retry_later(node);
    log_line(LogEvent::kPowerOffPaid, Json{{"node", node.str()}});
    debts_.erase(node);
  });
}

void PowerDebt::retry_later(const NodeId& node) {
  Debt& debt = debts_[node];
  debt.under_way = false;
  debt.retry_ms =
      std::clamp(debt.retry_ms * 2, limits::kPowerOffRetryFirstMs, limits::kPowerOffRetryMaxMs);
  loop_.after(debt.retry_ms, [this] { look(); });
}

}  // namespace leasehold
