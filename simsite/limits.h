// The bounds of the simulated site; the product's own are in core/base/limits.h. Sizes are bytes,
// times milliseconds, unless the name says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace leasehold::simsite {

inline constexpr size_t kMachines = 1024;
inline constexpr size_t kDisksPerMachine = 32;
inline constexpr size_t kGpusPerMachine = 16;
inline constexpr int64_t kDiskMib = 1 << 20;
inline constexpr size_t kPasswordBytes = 256;
inline constexpr size_t kFaultsPerMachine = 256;
inline constexpr size_t kSessionsPerBmc = 256;
inline constexpr size_t kEffects = 1'000'000;
inline constexpr size_t kKillPlans = 1024;
inline constexpr size_t kToolArguments = 64;
inline constexpr size_t kRememberedPasswords = 1024;

inline constexpr int64_t kBootConnectMs = 3'000;
inline constexpr int64_t kBootRequestMs = 5'000;
inline constexpr size_t kBootScriptBytes = 64 << 10;
inline constexpr size_t kBootFileBytes = 512 << 20;

// True for names that are safe as one path segment or file name.
bool is_file_name(const std::string& text);

}  // namespace leasehold::simsite
