// The terminal that a command writes to, and the hour as its reader's clock shows it. Asked once,
// by main(); everything else gets values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace leasehold {

// Columns of the terminal behind `fd` (its own word, else $COLUMNS, else 80); 0 if it is none: then
// nothing is shortened.
size_t terminal_width(int fd);

// A time of the API in the reader's zone: "16:31:21" today, "11-29 16:31" this year, "2026-11-29"
// before. What is no time stays as it is; "" stays "".
std::string local_time(const std::string& rfc3339, int64_t now_ms);
// "2026-11-29 16:31:21 CET": for single values, where there is room.
std::string local_time_long(const std::string& rfc3339);
// "45s", "12m", "3h 20m", "5d": between two times of the API; "" if one of them is none.
std::string time_between(const std::string& from, const std::string& to);
std::string duration_text(int64_t duration_ms);

}  // namespace leasehold
