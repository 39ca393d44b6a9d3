// Bytes as text: hex (lower case) and strict base64 (RFC 4648 section 4, padded; slack bits and
// foreign characters are refused, so that one value has exactly one text). Values only.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace leasehold {

std::string hex_encode(std::string_view bytes);
Result<std::string> hex_decode(std::string_view text);  // lower case only; MALFORMED
std::string base64_encode(std::string_view bytes);
Result<std::string> base64_decode(std::string_view text);  // MALFORMED
// Base64 without padding, URL alphabet (RFC 4648 section 5): for tokens and names.
std::string base64url_encode(std::string_view bytes);
// Compares in time that depends on the length only.
bool equal_constant_time(std::string_view a, std::string_view b);
// Overwrites the bytes of a secret before the string lets go of them.
void wipe_secret(std::string& secret);

}  // namespace leasehold
