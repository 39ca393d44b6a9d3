// The text of a batch or chunk: one JSON object whose last member is "rows". It is put together
// and taken apart around the rows' own texts, which cross unchanged: a head, then row after row.
// Values only, any thread.
#pragma once

#include "core/sync/stream.h"

namespace leasehold::sync {

class MessageText {
 public:
  explicit MessageText(const Json& head);  // an object with members, "rows" not among them
  void add_row(std::string_view text) { add(text); }
  void add_tombstone(const std::string& table, const std::string& key);
  std::string finish() &&;

 private:
  void add(std::string_view text);
  std::string text_;
  bool empty_ = true;
};

struct Message {
  Json head;  // without "rows"
  std::vector<Entry> rows;
};
// Strict: exactly the form above, each row a row of a table that crosses, with its schema and key.
Result<Message> take_message(std::string_view text);

// A row that may come from this owner into the pair's site. INVALID_INPUT, FORBIDDEN.
Status check_entry(const End& end, RowOwner owner, const Entry& entry);

}  // namespace leasehold::sync
