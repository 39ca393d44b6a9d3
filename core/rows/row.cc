#include "core/rows/row.h"

#include "core/base/ids.h"

namespace leasehold {

const std::vector<TableInfo>& site_tables() {
  static const std::vector<TableInfo> kTables = {
      // What a site is told.
      {"pool_policy", RowOwner::kCoordinator, 1, "pool", false},
      {"hardware_profile", RowOwner::kCoordinator, 1, "profile", false},
      {"node_admin", RowOwner::kCoordinator, 1, "node", true},
      {"work", RowOwner::kCoordinator, 1, "work", true},
      {"clearance", RowOwner::kCoordinator, 1, "run", true},
      {"receipt", RowOwner::kCoordinator, 1, "run", true},
      {"authority", RowOwner::kCoordinator, 1, "name", false},
      // What a site says.
      {"node", RowOwner::kSite, 1, "node", true},
      {"lease", RowOwner::kSite, 1, "lease", true},
      {"run", RowOwner::kSite, 1, "run", true},
      {"step", RowOwner::kSite, 1, "step", true},
      {"result", RowOwner::kSite, 1, "result", true},
      {"issued", RowOwner::kSite, 1, "serial", true},
      {"work_result", RowOwner::kSite, 1, "work", true},
      {"event", RowOwner::kSite, 1, "event", true},
      // What never leaves the site.
      {"vault", RowOwner::kPrivate, 1, "version", true},
      {"ramdisk", RowOwner::kPrivate, 1, "boot", true},
      {"command", RowOwner::kPrivate, 1, "command", true},
      {"site_state", RowOwner::kPrivate, 1, "name", false},
      {"hardware", RowOwner::kPrivate, 1, "hardware", true},
  };
  return kTables;
}

const TableInfo* find_table(std::string_view name) {
  for (const TableInfo& table : site_tables()) {
    if (name == table.name) return &table;
  }
  return nullptr;
}

Result<RowChange> parse_row(const Json& row) {
  if (!row.is_object()) return Error(Code::kInvalidInput, "a row is a JSON object");
  RowChange change;
  change.table = TRY(json_string(row, "table"));
  const TableInfo* table = find_table(change.table);
  if (table == nullptr || table->owner == RowOwner::kPrivate) {
    return Error(Code::kInvalidInput, "there is no table \"" + change.table + "\"", "table");
  }
  int64_t schema = TRY(json_int(row, "schema"));
  if (schema != table->schema) {
    return Error(Code::kInvalidInput,
                 "table " + change.table + " has schema " + std::to_string(table->schema) +
                     "; this row says " + std::to_string(schema),
                 "schema");
  }
  change.key = TRY(json_string(row, table->key));
  if (!is_valid_id(change.key)) {
    return Error(Code::kInvalidInput, "\"" + change.key.substr(0, 80) + "\" is not an id",
                 table->key);
  }
  if (table->has_node) TRY(NodeId::parse(TRY(json_string(row, "node")), "node"));
  change.row = row;
  return change;
}

}  // namespace leasehold
