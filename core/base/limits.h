// Every bound of the system, in one place. Sizes are bytes, times milliseconds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leasehold::limits {

// JSON
inline constexpr size_t kJsonDepth = 64;
inline constexpr size_t kJsonBytes = 8 << 20;
inline constexpr size_t kConfigBytes = 1 << 20;

// HTTP servers (site API, gateway, bootd, simsite)
inline constexpr size_t kHttpHeaderBytes = 16 << 10;
inline constexpr size_t kHttpBodyBytes = 1 << 20;
inline constexpr int64_t kHttpIdleMs = 10'000;
inline constexpr size_t kHttpConnections = 4096;
inline constexpr int64_t kLongPollMs = 30'000;

// Gateway
inline constexpr size_t kGatewayFrameBytes = 1 << 20;
inline constexpr size_t kGatewayChainBytes = 16 << 10;
inline constexpr size_t kGatewayPendingPerConnection = 1;

// BMC
inline constexpr size_t kBmcBodyBytes = 4 << 20;
inline constexpr int64_t kBmcConnectMs = 15'000;
inline constexpr int64_t kBmcRequestMs = 60'000;

// Engine
inline constexpr size_t kStepThreads = 1024;
inline constexpr size_t kStepStackBytes = 256 << 10;
inline constexpr int kCrashesUntilPoisoned = 3;
inline constexpr int kAgainPerRun = 1;
inline constexpr size_t kStepOutputBytes = 1 << 20;
inline constexpr int64_t kAwaitRecheckMs = 30'000;
inline constexpr int64_t kPollMinMs = 1;
inline constexpr int64_t kCommitRetryFirstMs = 100;
inline constexpr int64_t kCommitRetryMaxMs = 10'000;
inline constexpr size_t kCrashFileBytes = 1 << 20;
inline constexpr size_t kOutboxRowsWithoutPeer = 100'000;
inline constexpr int64_t kPowerOffRetryFirstMs = 1'000;
inline constexpr int64_t kPowerOffRetryMaxMs = 300'000;

// Database: transactions that share one commit, and that may wait for theirs; prepared statements
// kept; frames of 4 KiB in the write-ahead log before it is copied back when nobody waits, and
// before it is copied back whoever waits.
inline constexpr size_t kDatabaseGroup = 256;
inline constexpr size_t kDatabaseQueue = 65'536;
inline constexpr size_t kDatabaseStatements = 512;
inline constexpr int kWalFramesSoft = 1'000;
inline constexpr int kWalFramesHard = 4'000;
inline constexpr size_t kWalBytesKept = size_t{kWalFramesSoft} * (4096 + 24) + 32;
inline constexpr int64_t kOutboxPruneEvery = 256;

// Vault: versions of one credential, at most
inline constexpr int kVaultVersionsAlive = 3;

// Evidence
inline constexpr size_t kEvidenceBytes = 4 << 20;
inline constexpr int64_t kRamdiskLifeMaxMs = 7LL * 24 * 3600 * 1000;

// Subprocesses
inline constexpr size_t kSubprocessOutputBytes = 4 << 20;

}  // namespace leasehold::limits
