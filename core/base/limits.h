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
inline constexpr size_t kHttpHeaders = 128;            // fields of one message
inline constexpr int64_t kHttpLingerMs = 1'000;        // a refused peer may still read why
inline constexpr size_t kHttpRefusedConnections = 64;  // that read why, at once
inline constexpr size_t kStreamReadBytes = 16 << 10;
inline constexpr int kListenBacklog = 512;
inline constexpr size_t kHttpPieceBytes = 256 << 10;  // of a BodySource, unsent, per connection

// HTTP clients
inline constexpr size_t kHttpAnswerHeaderBytes = 64 << 10;
inline constexpr size_t kHttpCalls = 4096;          // open calls of one CurlMulti
inline constexpr long kHttpIdleConnections = 64;    // of one CurlMulti
inline constexpr int64_t kHttpLoopGraceMs = 5'000;  // for the loop to deliver an answer in time

// Gateway
inline constexpr size_t kGatewayFrameBytes = 1 << 20;
inline constexpr size_t kGatewayChainBytes = 16 << 10;
inline constexpr size_t kGatewayPendingPerConnection = 1;
// What a frame needs besides the body: type, path, query and JSON's escapes of usual text.
inline constexpr size_t kGatewayBodyBytes = kGatewayFrameBytes - (64 << 10);
inline constexpr size_t kGatewayConnections = 4096;
inline constexpr size_t kGatewayConnectionsPerPeer = 16;
inline constexpr size_t kGatewayPendingBytes = 8 << 20;  // requests without an answer yet
inline constexpr int64_t kGatewayAnswerMs = 120'000;     // the agent's longest poll and some
inline constexpr size_t kFrameQueueBytes = 16 << 20;     // unsent, per peer
inline constexpr size_t kFramePeers = 64;
inline constexpr int64_t kFrameReconnectMs = 500;

// Boot services (bootd)
inline constexpr size_t kBootArmed = 4096;         // MACs at once
inline constexpr size_t kBootRecords = 65'536;     // boot ids remembered
inline constexpr size_t kBootClaims = 4096;        // claims kept for the agent
inline constexpr int64_t kBootClaimsPerBoot = 16;  // claims of one boot that are reported
inline constexpr size_t kBootClaimPolls = 16;      // agents that wait for claims at once
inline constexpr int64_t kBootClaimPollMs = 25'000;
inline constexpr int64_t kBootSecondsMax = 24 * 3600;  // how long a boot stays armed, at most
inline constexpr size_t kBootCmdlineBytes = 1500;      // the kernel's own limit is 2048
inline constexpr size_t kBootDocumentBytes = 16 << 10;
inline constexpr size_t kBootConnectionsPerPeer = 32;

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

// Certificates: a chain is leaf, site CA, issuing CA and perhaps the root
inline constexpr size_t kChainCertificates = 4;
inline constexpr size_t kCertificateBytes = 4 << 10;  // DER
inline constexpr size_t kCsrBytes = 4 << 10;          // PEM
inline constexpr size_t kPemFileBytes = 64 << 10;

// Subprocesses
inline constexpr size_t kSubprocessOutputBytes = 4 << 20;

}  // namespace leasehold::limits
