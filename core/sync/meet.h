// What two positions mean. Each end calls meet() with the other's position, in one transaction, and
// sends its own again until both streams can go on. Here a database restored from a backup is
// known by the other end: its stream ends before what the other has of it, or holds another row
// under that number. What a start counter finds out at once is told by found_restored().
#pragma once

#include "core/sync/position.h"

namespace leasehold::sync {

// This database is known to be restored or copied: its rows are history until the other end has
// been met. Nothing is applied, read or (at a coordinator) written meanwhile. Again: nothing.
Status found_restored(Sql& sql, const End& end);

enum class Standing {
  kGo,        // from the cursor on
  kRefetch,   // by snapshot first
  kRestored,  // its owner pulls its own rows back first (see meet())
};
struct Meeting {
  Standing mine = Standing::kGo;    // of the own stream
  Standing theirs = Standing::kGo;  // of the other end's
  Position position;                // of this end, after what was decided
};
// A restored end whose rows are as new as the other's copy keeps them and goes on under the next
// incarnation; else it wants them back. What the other end must send again is wanted from here on.
// An end that does not believe the other changes nothing of its own rows: `mine` is kRestored and
// `position.restoring` false. That is an alarm for people; if it is true they have found_restored()
// called.
Result<Meeting> meet(Sql& sql, const End& end, const Position& theirs, Random& random);

}  // namespace leasehold::sync
