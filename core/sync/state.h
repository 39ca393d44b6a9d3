// What an end remembers of the other: its cursor, and the snapshots that it wants. The only SQL of
// this room besides row_store. Inside a transaction.
#pragma once

#include <optional>

#include "core/sync/position.h"

namespace leasehold::sync {

Result<Cursor> read_cursor(Sql& sql, const End& end);
Status write_cursor(Sql& sql, const End& end, const Cursor& cursor);

Result<std::optional<ChunkRequest>> read_want(Sql& sql, const End& end, RowOwner owner);
Status write_want(Sql& sql, const End& end, const ChunkRequest& want);
Status drop_want(Sql& sql, const End& end, RowOwner owner);
// A new snapshot of these rows, from the beginning; nothing if one is wanted.
Status add_want(Sql& sql, const End& end, RowOwner owner, Random& random);

const char* owner_name(RowOwner owner);
Result<RowOwner> owner_from(const std::string& name);
// The tables of an owner, in the order of a snapshot.
std::vector<const TableInfo*> tables_of(RowOwner owner);

}  // namespace leasehold::sync
