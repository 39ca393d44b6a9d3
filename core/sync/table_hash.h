// Hashes over the content of tables, so that copies that silently differ are found. A hash depends
// on the rows alone, not on how they came. Computed when asked for, in one walk over the tables.
// Inside a transaction.
#pragma once

#include <map>

#include "core/sync/position.h"

namespace leasehold::sync {

struct TableHashes {
  RowOwner owner = RowOwner::kSite;
  std::string incarnation;
  int64_t seq = 0;  // the state they are of
  std::map<std::string, std::string> tables;
};
// Of the own rows at the newest number, or of the copy at its cursor. CONFLICT while a snapshot or
// a restore of them is not complete.
Result<TableHashes> table_hashes(Sql& sql, const End& end, RowOwner owner);
Json table_hashes_json(const TableHashes& hashes);
Result<TableHashes> parse_table_hashes(const Json& json);

// The tables that differ. CONFLICT if this end is at another number: try again later.
Result<std::vector<std::string>> differing_tables(Sql& sql, const End& end,
                                                  const TableHashes& theirs);

// A hash in the making, over rows in order of key.
class RowsHash {
 public:
  void add(std::string_view key, std::string_view text);
  std::string hex();

 private:
  void flush();
  std::string state_;
  std::string pending_;
};

}  // namespace leasehold::sync
