#include "simsite/machine.h"

#include <algorithm>

#include "core/base/bytes.h"
#include "core/base/files.h"
#include "simsite/limits.h"
#include "simsite/sysroot.h"

namespace leasehold::simsite {
namespace {

constexpr int64_t kLockAfter = 5;
constexpr int64_t kLockSeconds = 30;

// The same for the same name, so that Redfish and DMI agree.
std::string uuid_of(const std::string& name) {
  uint64_t hash = 1469598103934665603ULL;  // FNV-1a
  std::string bytes;
  for (int round = 0; round < 2; ++round) {
    for (unsigned char byte : name) hash = (hash ^ byte) * 1099511628211ULL;
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(hash >> shift));
  }
  std::string hex = hex_encode(bytes);
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-4" + hex.substr(13, 3) + "-a" +
         hex.substr(17, 3) + "-" + hex.substr(20, 12);
}

BmcState initial_state(const MachineConfig& config) {
  BmcState state;
  state.machine = config.name;
  state.serial = "SIM-" + config.name;
  state.board_serial = "BOARD-" + config.name;
  state.uuid = uuid_of(config.name);
  state.mac = config.mac;
  state.firmware = config.firmware;
  // Slot 1 is empty, as on many BMCs (quirk A4).
  state.accounts.push_back({.id = "1", .user_name = "", .password = "", .enabled = false});
  Account account{.id = "2", .user_name = config.bmc_user, .password = config.bmc_password};
  account.change_required = config.bmc_change_required;
  state.accounts.push_back(std::move(account));
  return state;
}

std::vector<Disk> make_disks(const MachineConfig& config, const std::string& folder) {
  std::vector<Disk> disks;
  for (size_t i = 0; i < config.disks.size(); ++i) {
    const DiskConfig& disk = config.disks[i];
    disks.push_back(
        {disk, "nvme" + std::to_string(i) + "n1", folder + "/disks/" + disk.serial + ".raw"});
  }
  return disks;
}

HttpResponse fault_response(const FaultPlan& plan, const RedfishRequest& request) {
  int status = static_cast<int>(json_int_or(plan.args, "code", 500).value_or(500));
  std::string text = "The request failed due to an internal service error.";
  // Some BMCs repeat what they were sent, passwords too (quirk P6).
  if (json_bool_or(plan.args, "echo", false).value_or(false)) text += " Request: " + request.body;
  HttpResponse response = reply_error(status, {"InternalError", text, {}, ""}).response;
  const Json& body = json_member(plan.args, "body");
  if (!body.is_null()) response.body = body.is_string() ? body.get<std::string>() : dump_json(body);
  return response;
}

void merge_into(HttpResponse& response, const std::vector<Json>& merges) {
  if (merges.empty()) return;
  Json body = parse_json(response.body).value_or(Json::object());
  for (const Json& merge : merges) body.merge_patch(merge);
  response.body = dump_json(body);
}

}  // namespace

Machine::Machine(Loop& loop, Clock& clock, Random& random, BootFetcher& boot, EffectLog& effects,
                 const MachineConfig& config, const SiteConfig& site)
    : clock_(clock),
      random_(random),
      effects_(effects),
      config_(config),
      site_(site),
      folder_(site.state_dir + "/" + config.name),
      state_(initial_state(config)),
      hardware_{make_disks(config, folder_), config.gpus},
      host_(loop, boot, faults_, state_,
            {folder_, site.image_dir + "/etc/leasehold", site.ramdisk_program, site.boot_url},
            config_, hardware_.disks) {}

Status Machine::prepare() {
  TRY(make_folders(folder_ + "/disks", 0755));
  for (const Disk& disk : hardware_.disks) TRY(create_disk(disk));
  TRY(build_shims(folder_ + "/shims", site_.shims_dir, config_.name, site_.control_socket));
  for (const FaultRule& rule : config_.faults) TRY(faults_.add(rule));
  if (config_.power_on) host_.begin_powered_on();
  return {};
}

BmcAnswer Machine::bmc_request(const RedfishRequest& request) {
  CallContext context;
  context.monotonic_ms = clock_.monotonic_ms();
  context.fresh_token = hex_encode(random_.bytes(16));
  context.lockout = faults_.standing(FaultOn::kBmc, FaultAction::kLockout) != nullptr;
  RedfishReply reply = redfish_answer(state_, context, request);
  if (reply.login) count_login(*reply.login);
  Json body = request.body.empty() ? Json(nullptr) : parse_json(request.body).value_or(nullptr);
  if (request.method == "PATCH") remember_password(body);

  bool changes = !std::holds_alternative<std::monostate>(reply.change);
  FaultPlan plan = faults_.match(
      {FaultOn::kBmc, request.method, request.path, std::move(body), changes, {}}, config_.name);
  BmcAnswer answer{Delivery::kAnswer, plan.latency_ms, reply.response};
  bool applies = !plan.spoiled || spoil(plan, request, answer);
  if (applies) apply(reply.change, request);
  merge_into(answer.response, plan.merges);
  return answer;
}

bool Machine::spoil(const FaultPlan& plan, const RedfishRequest& request, BmcAnswer& answer) {
  switch (plan.action) {
    case FaultAction::kStatus:
    case FaultAction::kApplyThenStatus:
      answer.response = fault_response(plan, request);
      return plan.action == FaultAction::kApplyThenStatus;
    case FaultAction::kDrop:
    case FaultAction::kApplyWithoutReply:
      answer.delivery = Delivery::kDrop;
      return plan.action == FaultAction::kApplyWithoutReply;
    case FaultAction::kReset:
      answer.delivery = Delivery::kReset;
      return false;
    case FaultAction::kHang:
      answer.delivery = Delivery::kHang;
      return false;
    default:
      return false;  // a lie: the answer stands, the change does not
  }
}

void Machine::apply(const Change& change, const RedfishRequest& request) {
  if (const auto* account_change = std::get_if<SetAccount>(&change)) {
    Account* account = state_.account_by_id(account_change->account_id);
    if (!account_change->password.empty()) {
      account->password = account_change->password;
      account->change_required = false;
    }
    account->enabled = account_change->enabled;
  } else if (const auto* made = std::get_if<CreateAccount>(&change)) {
    state_.accounts.push_back(made->account);
  } else if (const auto* gone = std::get_if<DeleteAccount>(&change)) {
    std::erase_if(state_.accounts,
                  [&](const Account& account) { return account.id == gone->account_id; });
  } else if (const auto* boot = std::get_if<SetBoot>(&change)) {
    state_.boot = boot->boot;
  } else if (const auto* reset = std::get_if<Reset>(&change)) {
    host_.reset(reset->type);
  } else if (const auto* session = std::get_if<CreateSession>(&change)) {
    ++state_.sessions_made;
    state_.sessions.push_back(session->session);
  } else if (const auto* deletion = std::get_if<DeleteSession>(&change)) {
    std::erase_if(state_.sessions, [&](const Session& open) { return open.id == deletion->id; });
  }
  if (!is_effect(change)) return;
  ++effects_here_;
  effects_.add(config_.name, request.method + " " + request.path + ": " + describe(change));
}

void Machine::count_login(const LoginAttempt& login) {
  Account* account = state_.account_by_id(login.account_id);
  if (login.succeeded) {
    account->failures = 0;
    return;
  }
  const FaultRule* rule = faults_.standing(FaultOn::kBmc, FaultAction::kLockout);
  bool locked = rule != nullptr && account->locked_until_ms > clock_.monotonic_ms();
  if (locked) return;
  ++account->failures;
  if (rule == nullptr) return;
  if (account->failures >= json_int_or(rule->args, "after", kLockAfter).value_or(kLockAfter)) {
    int64_t seconds = json_int_or(rule->args, "seconds", kLockSeconds).value_or(kLockSeconds);
    account->locked_until_ms = clock_.monotonic_ms() + seconds * 1000;
    account->failures = 0;
  }
}

void Machine::remember_password(const Json& body) {
  std::string password = json_text(body, "Password");
  if (password.empty() || sent_passwords_.size() >= kRememberedPasswords) return;
  sent_passwords_.push_back(password);
}

Json Machine::summary() const {
  return {{"name", config_.name},
          {"power", power_name(state_.power)},
          {"runs", runs_name(host_.runs())}};
}

Json Machine::details() const {
  Json details = summary();
  Json accounts = Json::array();
  for (const Account& account : state_.accounts) {
    if (account.user_name.empty()) continue;
    accounts.push_back(
        {{"id", account.id}, {"user", account.user_name}, {"failed_logins", account.failures}});
  }
  details["os"] = host_.os();
  details["ramdisk_pid"] = host_.ramdisk_pid();
  details["accounts"] = accounts;
  details["sessions"] = state_.sessions.size();
  details["boot"] = {{"target", state_.boot.target}, {"enabled", state_.boot.enabled}};
  details["effects"] = effects_here_;
  return details;
}

Json Machine::secrets() const {
  Json passwords = Json::object();
  for (const Account& account : state_.accounts) {
    if (!account.user_name.empty()) passwords[account.user_name] = account.password;
  }
  return {{"passwords", passwords}, {"sent_passwords", sent_passwords_}};
}

Json Machine::facts() const {
  Json disks = Json::array();
  for (const Disk& disk : hardware_.disks) {
    Json entry = disk.manifest();
    entry["path"] = disk.path;
    disks.push_back(entry);
  }
  return {{"name", config_.name}, {"mac", config_.mac}, {"disks", disks}};
}

}  // namespace leasehold::simsite
