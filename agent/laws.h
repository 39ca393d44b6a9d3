// The laws (docs/laws.md) that can be seen in a change of a node's row, asserted in the one
// place through which every row of a site is written. A change that breaks one is INTERNAL and
// fails the transaction with everything in it. The table of allowed state moves is here. Values
// only.
#pragma once

#include "agent/private_rows.h"
#include "core/rows/site_rows.h"

namespace leasehold {

bool may_move(NodeState from, NodeState to);

// INTERNAL naming the law. `before` is null for a new node.
Status check_node_change(const NodeRow* before, const NodeRow& after);
// `others`: the node's versions as they are.
Status check_vault_change(const std::vector<VaultVersion>& others, const VaultVersion& after);
Status check_lease_change(const LeaseRow* before, const LeaseRow& after);

}  // namespace leasehold
