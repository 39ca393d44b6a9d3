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
inline constexpr int64_t kBmcLogoutMs = 10'000;  // a destructor waits no longer for its DELETE
inline constexpr int kBmcGetTries = 3;           // only reads are repeated
inline constexpr int64_t kBmcGetRetryMs = 2'000;
inline constexpr size_t kBmcPatchSends = 5;  // forms of If-Match that one PATCH tries
inline constexpr int kBmcReadBackTries = 3;  // after a change that was accepted
inline constexpr int64_t kBmcReadBackMs = 1'000;
inline constexpr int kBmcCollectionPages = 100;
inline constexpr size_t kBmcCollectionMembers = 4096;
inline constexpr size_t kBmcMessages = 64;       // Message.ExtendedInfo entries of one answer
inline constexpr size_t kBmcMessageBytes = 256;  // of a BMC's own words in an error text

// Engine
inline constexpr size_t kStepThreads = 1024;
inline constexpr size_t kStepStackBytes = 256 << 10;
inline constexpr int kCrashesUntilPoisoned = 3;
inline constexpr int kAgainPerRun = 1;
inline constexpr size_t kOutboxRowsWithoutPeer = 100'000;
inline constexpr int64_t kPowerOffRetryFirstMs = 1'000;
inline constexpr int64_t kPowerOffRetryMaxMs = 300'000;

// Rows from an operator
inline constexpr int64_t kPolicyDays = 3650;            // the longest duration a policy may name
inline constexpr int64_t kProfileTimeoutS = 24 * 3600;  // the longest wait a profile may name

// Vault: versions of one credential, at most
inline constexpr int kVaultVersionsAlive = 3;

// Evidence
inline constexpr size_t kEvidenceBytes = 4 << 20;
inline constexpr int64_t kRamdiskLifeMaxMs = 7LL * 24 * 3600 * 1000;
inline constexpr int64_t kEvidenceClockSkewMs = 300'000;
// The least that a sampled read-back reads: the first and the last so many bytes, and a sample.
inline constexpr int64_t kReadbackEdgeBytes = 1 << 20;
inline constexpr int64_t kReadbackSampleBytes = 1 << 20;

// Certificates: a chain is leaf, site CA, issuing CA and perhaps the root
inline constexpr size_t kChainCertificates = 4;
inline constexpr size_t kCertificateBytes = 4 << 10;  // DER
inline constexpr size_t kCsrBytes = 4 << 10;          // PEM
inline constexpr size_t kPemFileBytes = 64 << 10;

// Subprocesses
inline constexpr size_t kSubprocessOutputBytes = 4 << 20;

}  // namespace leasehold::limits
