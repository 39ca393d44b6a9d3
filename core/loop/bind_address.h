// Binds sockets and says in an operator's words why one cannot be bound. No state; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/files.h"
#include "core/base/result.h"

namespace leasehold {

// A bound, non-blocking stream socket that does not listen yet. CONFIG names the address and says
// what to do.
Status bind_tcp(const std::string& host, uint16_t port, FileDescriptor* bound);
Status bind_unix(const std::string& path, unsigned mode, FileDescriptor* bound);

}  // namespace leasehold
