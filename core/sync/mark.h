// The mark of a stream's entry: its SHA-256, by which an end sees that the other's stream holds
// what it once sent under that number, and not what a restored database wrote there. Inside a
// transaction, but for mark_of().
#pragma once

#include <string>

#include "core/sync/position.h"

namespace leasehold::sync {

std::string mark_of(const std::string& table, const std::string& key, const std::string& text);
// Of an entry of the own stream; "" if it is no longer kept.
Result<std::string> own_mark(Sql& sql, const End& end, int64_t seq);
// The own stream ends before that entry, or holds another under its number. Only for an entry of
// its own incarnation.
Result<bool> is_other_history(Sql& sql, const End& end, const row_store::Stream& own,
                              const Numbered& entry);
// The stream cannot go on from this cursor: it is of another incarnation, or its entry and what
// follows are not kept any more.
bool needs_snapshot(const row_store::Stream& stream, const Cursor& cursor);

}  // namespace leasehold::sync
