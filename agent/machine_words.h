// The words in which people name a machine: its BMC's URL, the pin of its certificate, a MAC. Each
// has one form in the rows, so that one machine is not known under two. Values only, any thread.
#pragma once

#include <string>

#include "core/base/result.h"

namespace leasehold {

// Six pairs of lower-case hex digits with colons.
bool is_mac(const std::string& text);
// "52-54-00-AB-00-01" as "52:54:00:ab:00:01"; INVALID_INPUT.
Result<std::string> normal_mac_of(const std::string& text);
// "10.0.0.7", "https://BMC.example.net:443/" as "https://bmc.example.net"; only https, no path.
// INVALID_INPUT.
Result<std::string> normal_bmc_url(const std::string& text);
// SHA-256 in hex, with or without colons, as 64 lower-case digits. INVALID_INPUT.
Result<std::string> normal_tls_pin(const std::string& text);

}  // namespace leasehold
