// Reads the boot script as iPXE would: kernel, initrd and boot lines (docs/protocols.md section 1).
// A pure function; it shares no code with the program that writes the script.
#pragma once

#include <string>

#include "core/base/result.h"

namespace leasehold::simsite {

struct BootScript {
  std::string kernel_url;
  std::string initrd_url;
  std::string cmdline;  // what the kernel gets: everything after the kernel's URL
};

// MALFORMED unless it is an iPXE script that ends in a boot of one kernel.
Result<BootScript> parse_boot_script(const std::string& text);

}  // namespace leasehold::simsite
