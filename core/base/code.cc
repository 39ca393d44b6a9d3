#include "core/base/code.h"

#include <array>

namespace leasehold {
namespace {

struct Entry {
  Code code;
  std::string_view name;
  std::string_view next;
  bool run;
};

constexpr std::array kEntries = {
#define LEASEHOLD_CALL_ENTRY(enumerator, name, next) Entry{Code::enumerator, name, next, false},
    LEASEHOLD_CALL_CODES(LEASEHOLD_CALL_ENTRY)
#undef LEASEHOLD_CALL_ENTRY
#define LEASEHOLD_RUN_ENTRY(enumerator, name, next) Entry{Code::enumerator, name, next, true},
        LEASEHOLD_RUN_CODES(LEASEHOLD_RUN_ENTRY)
#undef LEASEHOLD_RUN_ENTRY
};

const Entry& entry(Code code) { return kEntries[static_cast<size_t>(code)]; }

}  // namespace

std::string_view code_name(Code code) { return entry(code).name; }
std::string_view code_next(Code code) { return entry(code).next; }
bool is_run_code(Code code) { return entry(code).run; }

std::optional<Code> code_from_name(std::string_view name) {
  for (const Entry& candidate : kEntries) {
    if (candidate.name == name) return candidate.code;
  }
  return std::nullopt;
}

}  // namespace leasehold
