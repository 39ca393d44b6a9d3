// What the nouns of `leasehold` share: exit codes and the end of a command. Used from main's thread
// while CLI11 parses; a command runs in its callback.
#pragma once

#include "core/base/result.h"

namespace leasehold {

inline constexpr int kExitDone = 0;
inline constexpr int kExitRefused = 1;
inline constexpr int kExitUsage = 2;

// The line for stderr: what is wrong, and what to do where the message does not say.
std::string error_line(const Error& error);

// Ends a command: returns if it succeeded, else prints one line to stderr and leaves through
// CLI::RuntimeError, which is CLI11's own way to set an exit code. INVALID_INPUT is a usage error.
void finish_command(const Status& status);

}  // namespace leasehold
