#include "agent/steps/ramdisk.h"

#include "core/base/bytes.h"
#include "core/evidence/dsse.h"
#include "core/evidence/statement.h"

namespace leasehold {
namespace {

constexpr size_t kTokenBytes = 32;
constexpr size_t kNonceBytes = 16;
constexpr int64_t kSendOnAgainMs = 15'000;
constexpr int64_t kRecheckMs = 2'000;
constexpr int64_t kBootdMs = 60'000;
constexpr int64_t kBootdWhileOwingMs = 3'000;
// More than the verifier insists on, and small against any real disk.
constexpr int64_t kSampleBytesAsked = 64 << 20;
constexpr int64_t kArmedSlackSeconds = 60;

Json arming_of(const Tools& tools, const StepContext& context, const RamdiskRow& ramdisk,
               const std::string& token, int64_t call_home_s) {
  const SiteIdentity& site = *tools.identity;
  Json document = {{"schema", 1},
                   {"site", site.site},
                   {"domain", site.domain},
                   {"node", context.run.node.str()},
                   {"run", context.run.id.str()},
                   {"boot", ramdisk.boot},
                   {"gateway",
                    {{"host", site.gateway_host},
                     {"address", site.gateway_address},
                     {"port", site.gateway_port}}},
                   {"token", base64_encode(token)}};
  return Json{{"boot", ramdisk.boot},       {"kernel", site.kernel_file},
              {"initrd", site.initrd_file}, {"cmdline", site.cmdline},
              {"document", document},       {"seconds", call_home_s + kArmedSlackSeconds}};
}

Status arm(const Tools& tools, const StepContext& context, const NodeRow& node,
           const RamdiskRow& ramdisk, int64_t call_home_s) {
  std::string token =
      TRY(base64_decode(TRY(tools.vault->open_text(ramdisk.sealed_token, ramdisk.bound()))));
  Status armed =
      tools.boot->arm(node.boot_mac, arming_of(tools, context, ramdisk, token, call_home_s));
  // Armed by an attempt before this one: bootd still holds it, or its document is already out.
  if (!armed.ok() && armed.error().code == Code::kConflict) return {};
  return armed;
}

// The host is off: everything that makes it come up in our ramdisk, the power-on last.
Status start_boot(const Tools& tools, const StepContext& context, const HardwareProfile& profile,
                  Bmc& bmc) {
  NodeRow node = TRY(node_of(context));
  RamdiskRow ramdisk = TRY(ramdisk_of(context));
  TRY_WITH(arm(tools, context, node, ramdisk, profile.call_home_s), "arming bootd");
  BootSourceOverrideTarget target = profile.boot_target == ProfileBootTarget::kPxe
                                        ? BootSourceOverrideTarget::kPxe
                                        : BootSourceOverrideTarget::kUefiHttp;
  BootOverride once{target, BootSourceOverrideEnabled::kOnce};
  TRY_WITH(bmc.set_boot_override(once), "setting the boot override");
  return bmc.reset(ResetType::kOn);
}

Await for_call_home(const HardwareProfile& profile, std::string why) {
  return Await{"ramdisk.joined", std::move(why), profile.call_home_s * 1000,
               Code::kRamdiskNoCallHome, kRecheckMs};
}

std::string command_id(const StepContext& context, const std::string& kind) {
  return context.run.id.str() + "-p" + std::to_string(context.pass) + "-" + kind;
}

Json context_of(const Tools& tools, const StepContext& context, const RamdiskRow& ramdisk,
                int64_t policy_revision) {
  return Json{{"site", tools.identity->site},
              {"node", context.run.node.str()},
              {"generation", context.run.generation},
              {"lease", context.run.lease.str()},
              {"run", context.run.id.str()},
              {"pass", context.pass},
              {"place", context.place},
              {"attempt", context.attempt},
              {"boot_nonce", ramdisk.boot_nonce},
              {"binding", "network"},
              {"image", tools.identity->image_sha256},
              {"policy_revision", policy_revision}};
}

// What an accepted result says, without its head.
Json body_of(const ResultRow& result) {
  Result<DsseEnvelope> envelope = DsseEnvelope::from_json(result.envelope);
  if (!envelope.ok()) return Json();
  Checked<Statement> statement = parse_statement(envelope.value().payload);
  if (!statement.ok()) return Json();
  Json body = statement.value().predicate;
  Result<ResultHead> head = take_head(body);
  return head.ok() ? body : Json();
}

// A machine that hangs in the middle says nothing and reads On. Monotonic times, all of them.
std::optional<Error> is_silent(const Tools& tools, const StepContext& context,
                               const CommandSpec& spec, int64_t waiting_since_ms) {
  int64_t allowed_ms = profile_of(context).value_or(HardwareProfile()).ramdisk_silent_s * 1000;
  int64_t heard_ms = std::max(tools.sightings->last_ms(context.run.node.str()), waiting_since_ms);
  if (tools.clock->monotonic_ms() - heard_ms <= allowed_ms) return std::nullopt;
  return Error(Code::kRamdiskLost, "the ramdisk has said nothing for " +
                                       std::to_string(allowed_ms / 1000) +
                                       " s while it worked on " + spec.verb);
}

Result<Json> wipe_args(const Tools& tools, const StepContext& context) {
  PoolPolicy policy = TRY(policy_of(context));
  NodeRow node = TRY(node_of(context));
  return Json{{"disks", node.disks},
              {"wipe_minimum", wipe_minimum_name(policy.wipe_minimum)},
              {"readback", readback_name(policy.readback)},
              {"sample_bytes", kSampleBytesAsked},
              {"seed", hex_encode(tools.random->bytes(16))}};
}

Result<Json> diagnosis_args(const Tools&, const StepContext& context) {
  NodeRow node = TRY(node_of(context));
  return Json{{"level", 1}, {"gpus", node.gpus}};
}

}  // namespace

StepOutcome ramdisk_open(const Tools& tools, StepContext& context, int64_t life_ms) {
  Done done;
  Result<std::vector<RamdiskRow>> former = ramdisks(*context.rows);
  if (!former.ok()) return former.error();
  for (RamdiskRow& ramdisk : former.value()) {
    if (ramdisk.state == "closed") continue;
    ramdisk.state = "closed";
    done.rows.push_back(ramdisk.change());
  }
  RamdiskRow fresh;
  fresh.boot = random_id(*tools.random, "b");
  fresh.node = context.run.node;
  fresh.run = context.run.id;
  fresh.pass = context.pass;
  fresh.state = "armed";
  fresh.life_ms = life_ms;
  fresh.boot_nonce = base64_encode(tools.random->bytes(kNonceBytes));
  fresh.sealed_token =
      tools.vault->seal_text(base64_encode(tools.random->bytes(kTokenBytes)), fresh.bound());
  done.rows.push_back(fresh.change());
  Result<Json> policy = policy_row_of(context);
  if (!policy.ok()) return policy.error();
  done.output = Json{{"boot", fresh.boot},
                     {"boot_nonce", fresh.boot_nonce},
                     {"policy", std::move(policy).value()}};
  done.notices.push_back(Json{{"type", "close-node"}, {"node", context.run.node.str()}});
  return done;
}

StepOutcome ramdisk_boot(const Tools& tools, StepContext& context) {
  Result<RamdiskRow> ramdisk = ramdisk_of(context);
  if (!ramdisk.ok()) return ramdisk.error();
  if (ramdisk.value().state == "joined") {
    return Done{Json{{"boot", ramdisk.value().boot}, {"binding", "network"}}, {}, {}};
  }
  Result<HardwareProfile> profile = profile_of(context);
  if (!profile.ok()) return profile.error();
  Result<std::unique_ptr<Bmc>> bmc = open_bmc(tools, context);
  Result<PowerState> state =
      bmc.ok() ? bmc.value()->power_state() : Result<PowerState>(bmc.error());
  if (!state.ok() && !is_passing(state.error())) return state.error();
  if (!state.ok()) return for_call_home(profile.value(), state.error().message);
  if (state.value() != PowerState::kOff) {
    return for_call_home(profile.value(), "the host is on; waiting for the ramdisk's call home");
  }
  int64_t now_ms = tools.clock->monotonic_ms();
  int64_t first_ms = context.memory->value("onSince", now_ms);
  (*context.memory)["onSince"] = first_ms;
  if (now_ms - first_ms > profile.value().power_on_s * 1000) {
    return Error(Code::kPowerNotOn, "the BMC takes On, and the host still reads Off after " +
                                        std::to_string(profile.value().power_on_s) + " s");
  }
  if (context.memory->contains("onSentAt") &&
      now_ms - (*context.memory)["onSentAt"].get<int64_t>() < kSendOnAgainMs) {
    return for_call_home(profile.value(), "the host still reads Off after On");
  }
  Status started = start_boot(tools, context, profile.value(), *bmc.value());
  bool accepted_before = context.memory->contains("onSentAt");
  if (started.ok()) (*context.memory)["onSentAt"] = now_ms;
  // A BMC that has taken On and is busy with it may answer the next one with an error.
  if (!started.ok() && !is_passing(started.error()) && !accepted_before) return started.error();
  return for_call_home(profile.value(), started.ok() ? "waiting for the ramdisk's call home"
                                                     : started.error().message);
}

CommandSpec inventory_command(Code failure) {
  return CommandSpec{
      "inventory", "inventory", 120'000, failure,
      [](const Tools&, const StepContext&) -> Result<Json> { return Json::object(); }};
}

CommandSpec wipe_command() {
  return CommandSpec{"disk.wipe", "disk-wipe", 24LL * 3600 * 1000, Code::kWipeUnverified,
                     wipe_args};
}

CommandSpec diagnosis_command() {
  return CommandSpec{"diag.dcgm", "diagnosis", 1'800'000, Code::kDiagFailed, diagnosis_args};
}

StepOutcome command_issue(const Tools& tools, StepContext& context, const CommandSpec& spec) {
  Result<RamdiskRow> ramdisk = ramdisk_of(context);
  if (!ramdisk.ok()) return ramdisk.error();
  Result<PoolPolicy> policy = policy_of(context);
  if (!policy.ok()) return policy.error();
  Result<Json> args = spec.args(tools, context);
  if (!args.ok()) return args.error();
  Result<std::vector<CommandRow>> issued = commands(*context.rows);
  if (!issued.ok()) return issued.error();
  CommandRow command;
  command.command = command_id(context, spec.kind);
  command.node = context.run.node;
  command.run = context.run.id;
  command.number = static_cast<int64_t>(issued.value().size()) + 1;
  command.boot = ramdisk.value().boot;
  command.place = context.place;
  command.verb = spec.verb;
  command.kind = spec.kind;
  command.nonce = base64_encode(tools.random->bytes(kNonceBytes));
  command.context = context_of(tools, context, ramdisk.value(), policy.value().revision);
  command.args = std::move(args).value();
  Json output = {{"command", command.command}, {"nonce", command.nonce}};
  return Done{
      output, {command.change()}, {Json{{"type", "commands"}, {"node", context.run.node.str()}}}};
}

StepOutcome command_await(const Tools& tools, StepContext& context, const CommandSpec& spec) {
  Result<RamdiskRow> ramdisk = ramdisk_of(context);
  if (!ramdisk.ok()) return ramdisk.error();
  std::string id = command_id(context, spec.kind);
  Result<std::vector<ResultRow>> found = results(*context.rows);
  if (!found.ok()) return found.error();
  for (const ResultRow& result : found.value()) {
    if (result.result != id) continue;
    if (result.verdict != "PASS") return Error(spec.failure, result.reason);
    Json output = {{"command", id}, {"digest", result.digest}, {"verdict", result.verdict}};
    if (result.kind == "inventory") output["inventory"] = body_of(result);
    return Done{std::move(output), {}, {}};
  }
  std::string refused = json_text(context.rows->get("command", id), "refused");
  if (!refused.empty()) return Error(spec.failure, refused);
  Await await{"result", "the ramdisk works on " + spec.verb, spec.within_ms, Code::kRamdiskLost,
              kRecheckMs};
  // The BMC is asked only about a ramdisk that takes its time: most commands are over before.
  if (!context.memory->contains("waitingSince")) {
    (*context.memory)["waitingSince"] = tools.clock->monotonic_ms();
    return await;
  }
  int64_t since_ms = (*context.memory)["waitingSince"].get<int64_t>();
  if (std::optional<Error> silent = is_silent(tools, context, spec, since_ms)) return *silent;
  Result<std::unique_ptr<Bmc>> bmc = open_bmc(tools, context);
  Result<PowerState> state =
      bmc.ok() ? bmc.value()->power_state() : Result<PowerState>(bmc.error());
  int64_t off_reads = context.memory->value("offReads", int64_t{0});
  off_reads = state.ok() && state.value() == PowerState::kOff ? off_reads + 1 : 0;
  (*context.memory)["offReads"] = off_reads;
  if (off_reads >= 2) {
    return Error(Code::kRamdiskLost, "the machine went off while it worked on " + spec.verb);
  }
  return await;
}

StepOutcome boot_clean_up(const Tools& tools, StepContext& context) {
  Result<NodeRow> node = node_of(context);
  if (!node.ok()) return node.error();
  Status disarmed = tools.boot->disarm(node.value().boot_mac);
  if (!disarmed.ok()) {
    // A machine that owes power-off does not wait for bootd: the debt is pursued after the run.
    int64_t within_ms = node.value().power_off_owed ? kBootdWhileOwingMs : kBootdMs;
    return Poll{"bootd: " + disarmed.error().message, next_wait_ms(context), within_ms,
                Code::kUnavailable};
  }
  Result<std::unique_ptr<Bmc>> bmc = open_bmc(tools, context);
  if (!bmc.ok()) return bmc.error();
  Status cleared = bmc.value()->set_boot_override(BootOverride{});
  if (cleared.ok()) return Done{Json{{"override", "None"}}, {}, {}};
  if (!is_passing(cleared.error())) return cleared.error();
  return Poll{cleared.error().message, next_wait_ms(context), 60'000, Code::kUnavailable};
}

}  // namespace leasehold
