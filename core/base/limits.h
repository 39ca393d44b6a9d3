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
// What a frame needs besides the body: type, path, query and JSON's escapes of usual text.
inline constexpr size_t kGatewayBodyBytes = kGatewayFrameBytes - (64 << 10);
inline constexpr size_t kGatewayConnections = 4096;
inline constexpr size_t kGatewayConnectionsPerPeer = 16;
inline constexpr size_t kGatewayPendingBytes = 8 << 20;  // bodies that the agent has not read yet
inline constexpr size_t kGatewayPendingBytesPerPeer = 2 << 20;
inline constexpr size_t kGatewaySmallBodyBytes = 16 << 10;  // of whoever has not joined yet
inline constexpr int64_t kGatewayRefusalLogMs = 10'000;     // between two lines about one peer
inline constexpr size_t kGatewayRefusalLogPeers = 1024;
inline constexpr int64_t kGatewayAnswerMs = 120'000;  // the agent's longest poll and some
inline constexpr size_t kFrameQueueBytes = 16 << 20;  // unsent, per peer
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
inline constexpr size_t kBmcEchoBytes =
    8;  // a shorter password may be a word that a BMC says anyway

// Engine
inline constexpr size_t kStepThreads = 1024;
inline constexpr size_t kStepStackBytes = 256 << 10;
inline constexpr int kCrashesUntilPoisoned = 3;
inline constexpr int kAgainPerRun = 1;
inline constexpr size_t kStepOutputBytes = 1 << 20;
inline constexpr int64_t kAwaitRecheckMs = 30'000;
inline constexpr int64_t kPollMinMs = 1;
inline constexpr size_t kPostedEvents = 64;
inline constexpr int64_t kCommitRetryFirstMs = 100;
inline constexpr int64_t kCommitRetryMaxMs = 10'000;
inline constexpr size_t kCrashFileBytes = 1 << 20;
inline constexpr size_t kOutboxRowsWithoutPeer = 100'000;
inline constexpr int64_t kPowerOffLookMs = 30'000;
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
// Rows from an operator
inline constexpr int64_t kPolicyDays = 3650;            // the longest duration a policy may name
inline constexpr int64_t kProfileTimeoutS = 24 * 3600;  // the longest wait a profile may name

// Vault: versions of one credential, at most
inline constexpr int kVaultVersionsAlive = 3;

// Evidence
inline constexpr size_t kEvidenceBytes = 4 << 20;
inline constexpr int64_t kRamdiskHeartbeatMs = 5'000;
inline constexpr int64_t kRamdiskLifeMaxMs = 7LL * 24 * 3600 * 1000;
inline constexpr int64_t kEvidenceClockSkewMs = 300'000;
inline constexpr size_t kEvidenceDetailBytes = 200;  // of a refusal: what it quotes
// The least that a sampled read-back reads: the first and the last so many bytes, and a sample.
inline constexpr int64_t kReadbackEdgeBytes = 1 << 20;
inline constexpr int64_t kReadbackSampleLeastBytes = 1 << 20;

// Certificates: a chain is leaf, site CA, issuing CA and perhaps the root
inline constexpr size_t kChainCertificates = 4;
inline constexpr size_t kCertificateBytes = 4 << 10;  // DER
inline constexpr size_t kCsrBytes = 4 << 10;          // PEM
inline constexpr size_t kPemFileBytes = 64 << 10;

// An agent and its coordinator
inline constexpr int64_t kSyncConnectMs = 5'000;
inline constexpr int64_t kSyncCallMs = 60'000;        // of everything but a long poll
inline constexpr int64_t kSyncPollMs = 25'000;        // how long a pull waits for the first row
inline constexpr size_t kSyncAnswerBytes = 32 << 20;  // of one answer
inline constexpr int64_t kSyncBackoffFirstMs = 200;
inline constexpr int64_t kSyncBackoffMaxMs = 5'000;
inline constexpr int64_t kSyncHelloMs = 5'000;      // a good start waits no longer for the centre
inline constexpr int64_t kSyncHashesMs = 600'000;   // between two comparisons of table hashes
inline constexpr int64_t kTakeoverWaitMs = 30'000;  // for the former agent's poll to be answered
inline constexpr int64_t kTrustedClockMs = 5'000;   // a clock may be off from the centre's
inline constexpr int64_t kAuthorityLookMs = 5'000;
inline constexpr int64_t kGenerationJump = 1'000;  // of a restored node
inline constexpr size_t kJoinTokenBytes = 256;
inline constexpr int64_t kRenewRetryMs = 600'000;

// Rows between them: of one batch or chunk, which may go over the bytes by one row; of such a row;
// of a message with both; rows read at once; characters of a row's table and key.
inline constexpr int64_t kSyncBatchRows = 2'000;
inline constexpr size_t kSyncBatchBytes = 2 << 20;
inline constexpr size_t kSyncRowBytes = 4 << 20;
inline constexpr size_t kSyncMessageBytes = kJsonBytes;
inline constexpr int64_t kSyncReadRows = 64;
inline constexpr size_t kSyncNameBytes = 64;

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
