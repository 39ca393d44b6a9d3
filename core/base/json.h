// The one door to nlohmann/json. Parsing bounds depth and size and refuses duplicate keys, so that
// two readers of one text can never disagree; dumping never throws. The canonical form (what is
// signed) is compact, keys sorted, integers only, UTF-8. Values only, any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/limits.h"
#include "core/base/result.h"

// Instantiated once, in json.cc: every file that includes this would do it again, for seconds.
extern template class nlohmann::basic_json<>;

namespace leasehold {

using Json = nlohmann::json;

// MALFORMED (not JSON, not UTF-8, a duplicate key, too deep) or TOO_LARGE.
Result<Json> parse_json(std::string_view text, size_t max_bytes = limits::kJsonBytes);

// Text that dump_json wrote and nobody could change since: parsed once, without the checks above.
// MALFORMED if it is not JSON.
Result<Json> parse_own_json(std::string_view text);

// The canonical text, without a final newline. MALFORMED if it holds a float or text that is not
// UTF-8.
Result<std::string> canonical_json(const Json& value);

// Compact text for logs, HTTP and rows; bytes that are not UTF-8 become U+FFFD. Never fails.
std::string dump_json(const Json& value);
std::string dump_json_pretty(const Json& value);

// Member readers: INVALID_INPUT naming `key` if it is missing or of another type.
Result<std::string> json_string(const Json& object, const std::string& key);
Result<int64_t> json_int(const Json& object, const std::string& key);
Result<bool> json_bool(const Json& object, const std::string& key);
Result<Json> json_object(const Json& object, const std::string& key);
Result<Json> json_array(const Json& object, const std::string& key);
// Absent or null gives `fallback`; a wrong type is INVALID_INPUT.
Result<std::string> json_string_or(const Json& object, const std::string& key,
                                   const std::string& fallback);
Result<int64_t> json_int_or(const Json& object, const std::string& key, int64_t fallback);
Result<bool> json_bool_or(const Json& object, const std::string& key, bool fallback);

// Lenient readers for what the outside sends: an absent or wrong-typed member is empty, null.
std::string json_text(const Json& object, const std::string& key);
const Json& json_member(const Json& object, const std::string& key);

// INVALID_INPUT, naming the key and the nearest allowed one, if `object` has any other key.
Status check_keys(const Json& object, std::initializer_list<const char*> allowed,
                  const std::string& what);

}  // namespace leasehold
