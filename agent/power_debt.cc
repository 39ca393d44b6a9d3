#include "agent/power_debt.h"

#include <algorithm>

#include "agent/steps/support.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

constexpr int kOffReads = 3;

// One try: ForceOff unless it reads Off, then Off must be read as often as a step asks for.
Status try_power_off(const Tools& tools, const StepContext& context) {
  std::unique_ptr<Bmc> bmc = TRY(open_bmc(tools, context));
  HardwareProfile profile = profile_of(context).value_or(HardwareProfile());
  PowerState state = TRY(bmc->power_state());
  if (state != PowerState::kOff) TRY(bmc->reset(ResetType::kForceOff));
  for (int reads = 0; reads < kOffReads; ++reads) {
    tools.clock->sleep_ms(profile.off_reread_ms);
    state = TRY(bmc->power_state());
    if (state == PowerState::kOff) continue;
    return Error(Code::kPowerNotOff,
                 "the host reads " + std::string(power_state_name(state)) + " after ForceOff");
  }
  return {};
}

// An exception of a library must not end the site: the debt stays.
Status try_guarded(const Tools& tools, const StepContext& context) {
  try {
    return try_power_off(tools, context);
  } catch (const std::exception& problem) {
    return Error(Code::kInternal, std::string("an exception: ") + problem.what());
  }
}

}  // namespace

PowerDebt::PowerDebt(Loop& loop, Database& database, Engine& engine, StepThreads& threads,
                     const Tools& tools)
    : loop_(loop), database_(database), engine_(engine), threads_(threads), tools_(tools) {}

void PowerDebt::start() {
  look();
  loop_.after(limits::kPowerOffLookMs, [this] { start(); });
}

void PowerDebt::look() {
  auto owing = std::make_shared<std::vector<NodeId>>();
  auto find = [owing](Sql& sql) -> Status {
    for (const std::string& key : TRY(row_store::keys(sql, "node"))) {
      // A row that does not say, or cannot be read, is a row that owes; it holds up no other.
      Json row = Store::get(sql, "node", key).value_or(Json());
      if (json_bool_or(row, "powerOffOwed", true).value_or(true)) owing->push_back(NodeId(key));
    }
    return {};
  };
  database_.transact(find, [this, owing](Status found) {
    if (!found.ok()) {  // start() looks again
      log_line(LogEvent::kPowerOffOwed, Json{{"message", scrubbed(found.error().text())}});
      return;
    }
    for (const NodeId& node : *owing) consider(node);
  });
}

void PowerDebt::consider(const NodeId& node) {
  Debt& debt = debts_[node];
  if (debt.phase != Phase::kIdle || engine_.has_open_run(node)) return;
  if (!tools_.busy->try_hold(node)) return;
  debt.phase = Phase::kUnderWay;
  auto rows = std::make_shared<Snapshot>();
  RunInfo nobody;
  nobody.node = node;
  auto load = [this, nobody, rows](Sql& sql) -> Status {
    if (tools_.gate != nullptr) TRY(tools_.gate->may_start(sql));
    return Store::load(sql, nobody, *rows);
  };
  database_.transact(load, [this, node, rows](Status loaded) {
    if (!loaded.ok()) return settled(node, loaded);
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
    Status off = try_guarded(tools_, context);
    loop_.post([this, node, off] { settled(node, off); });
  });
}

void PowerDebt::settled(const NodeId& node, const Status& off) {
  if (off.ok()) return paid(node);
  log_line(LogEvent::kPowerOffOwed,
           Json{{"node", node.str()}, {"message", scrubbed(off.error().text())}});
  tools_.busy->release(node);
  // Each try of a wrong password counts towards a lockout (quirk A9): at the slowest pace only.
  if (off.error().code == Code::kCredentialRefused) {
    debts_[node].retry_ms = limits::kPowerOffRetryMaxMs;
  }
  retry_later(node);
}

void PowerDebt::paid(const NodeId& node) {
  auto pay = [this, node](Sql& sql) -> Status {
    NodeRow row = TRY(Store::node(sql, node));
    row.power_off_owed = false;
    row.off_read_at = format_time(tools_.clock->now_ms());
    TRY(Store::put(sql, row.change()));
    return Store::put(sql, event_row(random_id(*tools_.random, "e"), "node.power-off-paid", node,
                                     tools_.clock->now_ms(), Json::object()));
  };
  database_.transact(pay, [this, node](Status written) {
    tools_.busy->release(node);
    if (!written.ok()) return retry_later(node);
    log_line(LogEvent::kPowerOffPaid, Json{{"node", node.str()}});
    debts_.erase(node);
  });
}

void PowerDebt::retry_later(const NodeId& node) {
  Debt& debt = debts_[node];
  debt.phase = Phase::kWaiting;
  debt.retry_ms =
      std::clamp(debt.retry_ms * 2, limits::kPowerOffRetryFirstMs, limits::kPowerOffRetryMaxMs);
  loop_.after(debt.retry_ms, [this, node] {
    auto waiting = debts_.find(node);
    if (waiting == debts_.end()) return;
    waiting->second.phase = Phase::kIdle;
    look();
  });
}

}  // namespace leasehold
