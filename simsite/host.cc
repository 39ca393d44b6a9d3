#include "simsite/host.h"

#include <cstdlib>

#include "core/base/log.h"
#include "simsite/sysroot.h"

namespace leasehold::simsite {

std::string_view runs_name(Runs runs) {
  constexpr std::string_view kNames[] = {"nothing", "firmware",       "network-boot", "ramdisk",
                                         "disk-os", "no-boot-device", "halted"};
  return kNames[static_cast<int>(runs)];
}

Host::Host(Loop& loop, BootFetcher& boot, FaultRules& faults, BmcState& state, HostPlaces places,
           const MachineConfig& config, const std::vector<Disk>& disks)
    : loop_(loop),
      boot_(boot),
      faults_(faults),
      state_(state),
      places_(std::move(places)),
      config_(config),
      disks_(disks) {}

Host::~Host() {
  if (timer_ != 0) loop_.cancel(timer_);
}

void Host::later(int64_t delay_ms, std::function<void()> task) {
  if (timer_ != 0) loop_.cancel(std::exchange(timer_, 0));
  if (delay_ms <= 0) {
    task();
    return;
  }
  timer_ = loop_.after(delay_ms, [this, task = std::move(task)] {
    timer_ = 0;
    task();
  });
}

void Host::set(Power power, Runs runs) {
  state_.power = power;
  runs_ = runs;
  log_line(LogEvent::kMachineState,
           {{"machine", config_.name}, {"power", power_name(power)}, {"runs", runs_name(runs)}});
}

void Host::begin_powered_on() {
  state_.power = Power::kOn;
  boot_disk();
}

void Host::reset(const std::string& type) {
  bool down = state_.power == Power::kOff || state_.power == Power::kPoweringOff;
  if (type == "On") {
    if (down) power_up();
  } else if (type == "ForceOff") {
    if (!down) power_down();
  } else if (type == "GracefulShutdown") {
    // Only an operating system hears the power button (quirk W6).
    if (!down && (runs_ == Runs::kDiskOs || runs_ == Runs::kRamdisk)) power_down();
  } else if (type == "ForceRestart" && !down) {
    cut();
    begin_firmware();
  }
}

void Host::power_up() {
  cut();
  set(Power::kPoweringOn, Runs::kNothing);
  later(config_.power_ms, [this] { begin_firmware(); });
}

void Host::power_down() {
  set(Power::kPoweringOff, runs_);
  later(config_.power_ms, [this] {
    cut();
    set(Power::kOff, Runs::kNothing);
  });
}

void Host::cut() {
  ++cycle_;
  if (timer_ != 0) loop_.cancel(std::exchange(timer_, 0));
  ramdisk_.reset();
  os_.clear();
  runs_ = Runs::kNothing;
}

void Host::begin_firmware() {
  set(Power::kOn, Runs::kFirmware);
  later(config_.boot_ms, [this] { boot(); });
}

std::string Host::consume_override() {
  std::string target = state_.boot.enabled == "Disabled" ? "None" : state_.boot.target;
  if (state_.boot.enabled != "Once") return target;
  FaultPlan plan = faults_.match({.on = FaultOn::kMachine,
                                  .method = "GET",
                                  .path = "/boot/" + config_.mac,
                                  .body = nullptr,
                                  .actions = {FaultAction::kKeepsOverride}},
                                 config_.name);
  if (!plan.spoiled) {
    state_.boot.target = "None";
    state_.boot.enabled = "Disabled";
  }
  return target;
}

void Host::boot() {
  std::string target = consume_override();
  FaultPlan plan;
  for (FaultOn on : {FaultOn::kMachine, FaultOn::kBoot}) {
    if (plan.spoiled) break;
    plan = faults_.match({.on = on,
                          .method = "GET",
                          .path = "/boot/" + config_.mac,
                          .body = nullptr,
                          .actions = {FaultAction::kNoBoot, FaultAction::kBootsDisk}},
                         config_.name);
  }
  if (plan.spoiled && plan.action == FaultAction::kNoBoot) return;  // in its firmware for ever
  bool network = (target == "Pxe" || target == "UefiHttp") && !plan.spoiled;
  if (network) {
    boot_network();
  } else if (target != "BiosSetup") {
    boot_disk();
  }
}

void Host::boot_network() {
  set(Power::kOn, Runs::kNetworkBoot);
  FaultPlan plan = faults_.match({.on = FaultOn::kBoot,
                                  .method = "GET",
                                  .path = "/boot/" + config_.mac,
                                  .body = nullptr,
                                  .actions = {FaultAction::kLatency}},
                                 config_.name);
  later(plan.latency_ms, [this] {
    std::weak_ptr<Host*> weak = self_;
    auto answer = [weak, cycle = cycle_](const Result<BootScript>& script) {
      std::shared_ptr<Host*> self = weak.lock();
      if (!self || (*self)->cycle_ != cycle) return;
      if (script.ok()) {
        (*self)->run_ramdisk(script.value());
      } else {
        (*self)->boot_disk();
      }
    };
    boot_.start(places_.boot_url + "/boot/" + config_.mac, answer);
  });
}

void Host::boot_disk() {
  for (const Disk& disk : disks_) {
    if (std::optional<std::string> os = bootable_os(disk)) {
      os_ = *os;
      set(Power::kOn, Runs::kDiskOs);
      return;
    }
  }
  set(Power::kOn, Runs::kNoBootDevice);
}

void Host::run_ramdisk(const BootScript& script) {
  Status started = start_ramdisk(script);
  if (!started.ok()) {
    log_line(LogEvent::kProgramFailed,
             {{"machine", config_.name}, {"message", started.error().text()}});
    set(Power::kOn, Runs::kHalted);
    return;
  }
  set(Power::kOn, Runs::kRamdisk);
  FaultPlan plan = faults_.match({.on = FaultOn::kMachine,
                                  .method = "",
                                  .path = "ramdisk",
                                  .body = nullptr,
                                  .actions = {FaultAction::kDies}},
                                 config_.name);
  if (!plan.spoiled) return;
  bool power_off = json_text(plan.args, "power") == "Off";
  later(json_int_or(plan.args, "after_ms", 0).value_or(0), [this, power_off] { die(power_off); });
}

Status Host::start_ramdisk(const BootScript& script) {
  std::string root = places_.folder + "/root";
  TRY(build_sysroot({root, script.cmdline, places_.image_etc, state_.mac, state_.serial,
                     state_.board_serial, state_.uuid, disks_, config_.gpus}));
  RamdiskCommand command;
  command.argv = {places_.ramdisk_program, "--root", root};
  command.environment = {"PATH=" + places_.folder +
                             "/shims:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                         "HOME=" + root, "LC_ALL=C"};
  if (const char* libraries = std::getenv("LD_LIBRARY_PATH")) {
    command.environment.push_back(std::string("LD_LIBRARY_PATH=") + libraries);
  }
  command.console_path = places_.folder + "/console.log";
  ramdisk_ = TRY(RamdiskProcess::start(loop_, command, [this](int) { die(false); }));
  return {};
}

void Host::die(bool power_off) {
  cut();
  set(power_off ? Power::kOff : Power::kOn, power_off ? Runs::kNothing : Runs::kHalted);
}

}  // namespace leasehold::simsite
