// CHECK aborts the process, in release builds too: a broken invariant must not go on. Inside a
// workflow step use STEP_CHECK (agent/engine/workflow.h), which fails that run and not the site.
#pragma once

#include <string>

namespace leasehold {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& message);

}  // namespace leasehold

// After Catch2, whose CHECK it would shadow, a test includes no product header that needs this one
// by name: product headers never use CHECK in inline code.
#define LEASEHOLD_CHECK(condition, message)                                               \
  do {                                                                                    \
    if (!(condition)) ::leasehold::check_failed(__FILE__, __LINE__, #condition, message); \
  } while (false)
