// What a first process has to do before there is a machine to work on: mount the kernel's file
// systems, load the modules its image lists, give the network interface its address. Called once by
// main(), only as process 1. What fails is logged and goes on: without a network the program cannot
// call home, and that is what the agent waits for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "pxe/ramdisk/sysroot.h"

namespace leasehold {

struct NetworkConfig {
  std::string interface;  // "eth0"
  std::string address;    // IPv4
  int64_t prefix = 0;
  std::string gateway;  // IPv4, or empty
};
// etc/leasehold/network.json. CONFIG, naming the file and what is wrong.
Result<NetworkConfig> read_network_config(const Sysroot& root);
// The lines of etc/leasehold/modules: paths of .ko files, in the order to load them. Empty lines
// and comments ('#') are left out; no file means none.
std::vector<std::string> module_paths(const Sysroot& root);
// "255.255.255.0" of 24, as an address in network byte order.
uint32_t netmask(int64_t prefix);

void become_init(const Sysroot& root);
// A process 1 must not end. Reaps what the kernel hands to it, for ever.
[[noreturn]] void wait_for_power_off();

}  // namespace leasehold
