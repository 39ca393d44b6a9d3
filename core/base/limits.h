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
inline constexpr size_t kOutboxRowsWithoutPeer = 100'000;
inline constexpr int64_t kPowerOffRetryFirstMs = 1'000;
inline constexpr int64_t kPowerOffRetryMaxMs = 300'000;

// Vault: versions of one credential, at most
inline constexpr int kVaultVersionsAlive = 3;

// Evidence
inline constexpr size_t kEvidenceBytes = 4 << 20;
inline constexpr int64_t kRamdiskLifeMaxMs = 7LL * 24 * 3600 * 1000;

// Subprocesses
inline constexpr size_t kSubprocessOutputBytes = 4 << 20;

// Ramdisk: what it reads of the machine and of its tools
inline constexpr size_t kRamdiskTextBytes = 4096;
inline constexpr size_t kRamdiskFolderEntries = 4096;
inline constexpr size_t kRamdiskToolRecordBytes = 512;
inline constexpr size_t kRamdiskJsonStarts = 256;
inline constexpr size_t kRamdiskDisks = 128;  // more would not fit into one result
inline constexpr size_t kRamdiskGpus = 64;
inline constexpr size_t kRamdiskDiagTests = 1024;  // rows of tests in one diagnosis
inline constexpr int64_t kRamdiskToolMs = 60'000;
inline constexpr int64_t kRamdiskFormatMs = 2LL * 3600 * 1000;
inline constexpr int64_t kRamdiskSanitizeMs = 4LL * 3600 * 1000;
inline constexpr int64_t kRamdiskSanitizePollFirstMs = 100;
inline constexpr int64_t kRamdiskSanitizePollMaxMs = 5'000;
inline constexpr int64_t kRamdiskDiagMs = 15LL * 60 * 1000;
inline constexpr int64_t kRamdiskDiskSettleMs = 5'000;  // a slow disk may appear after the program
inline constexpr int64_t kRamdiskDiskSettlePollMs = 250;
// Ramdisk: erase and read-back
inline constexpr size_t kWipeThreads = 64;
inline constexpr size_t kWipeMarkers = 16;
inline constexpr size_t kWipeMarkerBytes = 4096;
inline constexpr size_t kWipeEdgeBytes = 1 << 20;
inline constexpr size_t kWipeSampleBytes = 64 << 10;  // one piece of the sample
inline constexpr size_t kWipeSamplePieces = 64 << 10;
inline constexpr size_t kWipeReadBytes = 1 << 20;
inline constexpr size_t kWipeSeedBytes = 64;
// Ramdisk: its gateway
inline constexpr int64_t kRamdiskConnectMs = 10'000;
inline constexpr int64_t kRamdiskRequestMs = 30'000;
inline constexpr size_t kRamdiskAnswerBytes = 1 << 20;
inline constexpr int kRamdiskDocumentTries = 60;
inline constexpr int64_t kRamdiskBackoffFirstMs = 100;
inline constexpr int64_t kRamdiskBackoffMaxMs = 5'000;
inline constexpr size_t kRamdiskKeptResults = 64;
inline constexpr int64_t kRamdiskInterfaceMs = 30'000;  // until the network interface is there
inline constexpr size_t kRamdiskModules = 256;

}  // namespace leasehold::limits
