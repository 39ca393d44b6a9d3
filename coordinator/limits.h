// Every bound of the coordinator, in one place. Sizes are bytes, times milliseconds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/limits.h"

namespace leasehold::limits {

// Its door
inline constexpr size_t kCentreBodyBytes = kSyncMessageBytes;
inline constexpr size_t kCentreConnections = 4096;
inline constexpr size_t kCentreConnectionsPerPeer = 1024;  // a whole site may stand behind one NAT
inline constexpr int64_t kCentreWaitS = 25;                // of a long poll, at most
inline constexpr int64_t kStrangersAudited = 60;  // failed calls without a certificate, a minute
inline constexpr int64_t kListDefault = 100;
inline constexpr int64_t kListMost = 1000;
inline constexpr int64_t kEventsPerAnswer = 1000;

// What it is told
inline constexpr size_t kReasonBytes = 500;
inline constexpr size_t kGatewayNames = 16;
inline constexpr size_t kTaints = 64;
inline constexpr size_t kLabels = 64;
inline constexpr size_t kLabelBytes = 128;

// The certificate authority
inline constexpr size_t kEnrolTokenBytes = 32;
inline constexpr int64_t kEnrolTokenMs = 10 * 60'000;
inline constexpr int64_t kSiteCaLifeMs = 90LL * 24 * 3600 * 1000;
inline constexpr int64_t kDaemonLifeMs = 45LL * 24 * 3600 * 1000;
inline constexpr int64_t kBackdatedMs = 5 * 60'000;  // clocks of two machines differ a little
inline constexpr int64_t kSiteCasAlive = 8;          // recorded for one site and not expired

// Authority of a site: 14 days from when it was heard last, granted anew now and then.
inline constexpr int64_t kAuthorityTermMs = 14LL * 24 * 3600 * 1000;
inline constexpr int64_t kAuthorityRenewMs = 3600 * 1000;
// An agent that is not heard ends no later than this after its term: its open runs go on till then.
inline constexpr int64_t kFormerAgentMs = 24LL * 3600 * 1000;
inline constexpr size_t kBoxBytes = 64;
inline constexpr int64_t kContactWriteMs = 5'000;  // between two writes of when it was heard

inline constexpr int64_t kInstancesKept = 10'000;  // agents of one site that said hello once
inline constexpr size_t kInstanceBytes = 64;

// Work
inline constexpr int64_t kWorkDeadlineMs = 7LL * 24 * 3600 * 1000;

}  // namespace leasehold::limits
