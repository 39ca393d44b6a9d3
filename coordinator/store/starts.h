// How often this database was started, and what follows if it is not the one that was started last.
// Inside a transaction, on the database's thread.
#pragma once

#include <cstdint>

#include "core/db/database.h"

namespace leasehold::store {

Result<int64_t> starts(Sql& sql);
Status put_starts(Sql& sql, int64_t starts);
// Nothing is written for an enrolled site before its agent was met.
Status all_sites_restored(Sql& sql);

}  // namespace leasehold::store
