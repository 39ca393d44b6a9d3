// Rows are the only contract between an agent and the coordinator, and between the agent's doors
// and its engine. A row is a JSON object with its table's schema number; each table has one owner.
// This file holds the table list; typed views of the tables stand beside it. Values only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace leasehold {

enum class RowOwner { kCoordinator, kSite, kPrivate };  // private: never leaves its database

struct TableInfo {
  const char* name;
  RowOwner owner;
  int schema;       // the number in each row's "schema"
  const char* key;  // the member that is the row's key
  bool has_node;    // rows carry "node" and are indexed by it
};

// The tables of a site's database. Order is the order of a snapshot.
const std::vector<TableInfo>& site_tables();
const TableInfo* find_table(std::string_view name);

// One change of one row; a deletion is a tombstone.
struct RowChange {
  std::string table;
  std::string key;
  Json row;  // null: tombstone
};

// Checks a row from outside: known table, schema number, key. INVALID_INPUT names the field.
// Unknown members are kept. `row` is {"table": ..., "schema": ..., ...}.
Result<RowChange> parse_row(const Json& row);

}  // namespace leasehold
