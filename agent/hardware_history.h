// History belongs to hardware, not to names: which node of the site a BMC, a MAC, a board, a disk
// or a GPU belongs to, in the private table `hardware`. An enrolling node that shows what is
// another's is refused, so that no machine, and no disk of one, gets rid of its past under a new
// name. Database thread, inside the transaction of the node's row.
#pragma once

#include <string>

#include "core/db/database.h"
#include "core/evidence/inventory.h"
#include "core/rows/site_rows.h"

namespace leasehold {

// A serial or UUID that tells one machine from another: trimmed, lower case. "" for the words that
// makers leave in ("To be filled by O.E.M.", zeros).
std::string credible_serial(const std::string& text);
// SHA-256 (hex) of system UUID and board serial; "" if the machine says neither of its own.
std::string hardware_key_of(const SystemInfo& system);

// Writes down what `after` shows. MACHINE_KNOWN, naming the other node, if `after` is enrolling and
// something of it is another's; any other node leaves that to its first owner. What an enrolling
// node shows no more is forgotten if it was never leased.
Status note_hardware(Sql& sql, const NodeRow* before, const NodeRow& after);
// The node that has this BMC or MAC; empty: none.
Result<NodeId> owner_of_bmc(Sql& sql, const std::string& url);
Result<NodeId> owner_of_mac(Sql& sql, const std::string& mac);
// Part of the start: rows that came by another way than put() (a restore) are written down.
Status note_all_hardware(Sql& sql);

}  // namespace leasehold
