// The iPXE script of an armed boot, exactly as docs/protocols.md section 1 spells it. It may be
// fetched any number of times and holds no secret. Values only, any thread.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/base/result.h"
#include "pxe/boot_table.h"

namespace leasehold {

// `public_url` is "http://host:port", without a final slash.
std::string boot_script(const Arming& arming, const std::string& public_url);

// Reads the body of PUT /v1/armed/<mac>. INVALID_INPUT names the field: an id or a file
// name of the wrong form, text that would break out of its line of the script.
Result<Arming> parse_arming(const std::string& mac, const std::string& body);

// A plain file name: no folder, no leading dot or dash, no blank or control character.
bool is_image_name(std::string_view name);

}  // namespace leasehold
