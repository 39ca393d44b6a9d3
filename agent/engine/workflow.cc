#include "agent/engine/workflow.h"

namespace leasehold {
namespace {

const Json& null_json() {
  static const Json kNull;
  return kNull;
}

}  // namespace

const Json& Snapshot::get(const std::string& table, const std::string& key) const {
  auto rows = tables_.find(table);
  if (rows == tables_.end()) return null_json();
  auto row = rows->second.find(key);
  return row == rows->second.end() ? null_json() : row->second;
}

std::vector<const Json*> Snapshot::all(const std::string& table) const {
  std::vector<const Json*> found;
  auto rows = tables_.find(table);
  if (rows == tables_.end()) return found;
  for (const auto& [key, row] : rows->second) found.push_back(&row);
  return found;
}

void Snapshot::put(const std::string& table, const std::string& key, Json row) {
  tables_[table][key] = std::move(row);
}

const Json& StepContext::output(const std::string& place_name) const {
  if (outputs == nullptr) return null_json();
  auto found = outputs->find(place_name);
  return found == outputs->end() ? null_json() : found->second;
}

}  // namespace leasehold
