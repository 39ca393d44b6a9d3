// How nodes and runs look in answers. Inside a transaction.
#pragma once

#include "coordinator/api/call.h"
#include "coordinator/store/indexes.h"

namespace leasehold {

Result<store::NodeKey> need_node(Sql& sql, const std::string& site,
                                 const std::string& node);  // NOT_FOUND
Result<Json> node_json(Sql& sql, const store::NodeKey& key);
Result<Json> run_json(Sql& sql, const store::RunKey& key);

}  // namespace leasehold
