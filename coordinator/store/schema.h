// The coordinator's own tables, made in one migration. The rows that sites and the coordinator
// exchange have theirs in core/sync. Inside a transaction, on the database's thread.
#pragma once

#include "core/base/clock.h"
#include "core/db/database.h"

namespace leasehold::store {

Status migrate(Sql& sql);

}  // namespace leasehold::store
