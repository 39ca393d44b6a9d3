// A SQLite VFS (https://www.sqlite.org/vfs.html) over the system's that gathers the frames of one
// commit and writes them with one pwrite just before the sync, where SQLite makes two writes per
// page. A commit is durable when its sync returns, as ever; nothing else is changed. Used by
// Connection, whose exclusive lock means that nobody else reads the log meanwhile. Any thread.
#pragma once

#include "core/base/result.h"

namespace leasehold {

// Its name for sqlite3_open_v2, registered with the first call of the process.
Result<const char*> wal_vfs();

}  // namespace leasehold
