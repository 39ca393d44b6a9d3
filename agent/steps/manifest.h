// enrol.manifest: the signed inventory becomes what is known of the machine: disk manifest, GPUs
// and hardware key. First it must be the machine behind this BMC and of the kind that the pool's
// hardware profile describes; the transaction of the row looks for its serials among all other
// nodes. Runs on a step's thread.
#pragma once

#include "agent/steps/support.h"
#include "core/evidence/inventory.h"

namespace leasehold {

// HARDWARE_MISMATCH saying what differs; MACHINE_KNOWN by the transaction.
StepOutcome take_manifest(const Tools& tools, StepContext& context);

enum class SameMachine { kYes, kNo, kCannotSay };
// Is the machine that booted the one whose BMC says `claims` (NodeRow::claims)? One agreeing
// serial, UUID (in either byte order) or MAC is enough; none although both sides say some is a no.
SameMachine is_same_machine(const Json& claims, const InventoryReport& report);

}  // namespace leasehold
