// The host of a simulated machine: its power and what runs on it. Power-on consumes the boot
// override; a network boot fetches the script as firmware would and starts the real ramdisk program
// on the machine's disks; a disk boots what its bytes name, and a wiped one nothing. Owned by its
// machine; used on the loop's thread. It never answers for the BMC.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/loop/loop.h"
#include "simsite/bmc_state.h"
#include "simsite/boot_fetch.h"
#include "simsite/disk.h"
#include "simsite/faults.h"
#include "simsite/ramdisk_process.h"

namespace leasehold::simsite {

enum class Runs { kNothing, kFirmware, kNetworkBoot, kRamdisk, kDiskOs, kNoBootDevice, kHalted };
std::string_view runs_name(Runs runs);

// Where the machine's parts lie; the same for every boot.
struct HostPlaces {
  std::string folder;     // state_dir/<machine>
  std::string image_etc;  // image_dir/etc/leasehold
  std::string ramdisk_program;
  std::string boot_url;
};

class Host {
 public:
  Host(Loop& loop, BootFetcher& boot, FaultRules& faults, BmcState& state, HostPlaces places,
       const MachineConfig& config, const std::vector<Disk>& disks);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host();

  // A machine that is on when the site begins: it boots its disk.
  void begin_powered_on();
  // ComputerSystem.Reset; what does not apply in this state does nothing.
  void reset(const std::string& type);
  // The ramdisk stops in the middle of whatever it does.
  void die(bool power_off);
  Runs runs() const { return runs_; }
  const std::string& os() const { return os_; }  // of kDiskOs
  pid_t ramdisk_pid() const { return ramdisk_ ? ramdisk_->pid() : -1; }

 private:
  void later(int64_t delay_ms, std::function<void()> task);
  void set(Power power, Runs runs);
  void power_up();
  void power_down();
  void cut();
  void begin_firmware();
  void boot();
  std::string consume_override();
  void boot_network();
  void boot_disk();
  void run_ramdisk(const BootScript& script);
  Status start_ramdisk(const BootScript& script);

  Loop& loop_;
  BootFetcher& boot_;
  FaultRules& faults_;
  BmcState& state_;
  const HostPlaces places_;
  const MachineConfig& config_;
  const std::vector<Disk>& disks_;
  Runs runs_ = Runs::kNothing;
  std::string os_;
  std::unique_ptr<RamdiskProcess> ramdisk_;
  uint64_t timer_ = 0;  // 0: none
  uint64_t cycle_ = 0;  // rises whenever what was under way no longer counts
  // A boot's answer holds it weakly, because it may come after the host has gone; nobody else does.
  std::shared_ptr<Host*> self_ = std::make_shared<Host*>(this);
};

}  // namespace leasehold::simsite
