#include "core/sync/message.h"

#include "core/base/ids.h"

namespace leasehold::sync {
namespace {

constexpr std::string_view kRows = ",\"rows\":[";
constexpr std::string_view kEnd = "]}";

Error malformed(const std::string& what) {
  return Error(Code::kMalformed, "a message of rows: " + what, "rows");
}

// The object that begins at `at`, to its closing brace; moves `at` behind it. Whether it is JSON is
// for the parser to say.
Result<std::string_view> take_object(std::string_view text, size_t& at) {
  size_t begin = at;
  if (at >= text.size() || text[at] != '{') return malformed("a row is an object");
  int depth = 0;
  bool in_string = false;
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      ++at;
      return text.substr(begin, at - begin);
    }
  }
  return malformed("it ends within a row");
}

Result<Entry> tombstone(const Json& row) {
  TRY(check_keys(row, {"table", "deleted"}, "a tombstone"));
  Entry entry;
  entry.change.table = TRY(json_string(row, "table"));
  entry.change.key = TRY(json_string(row, "deleted"));
  if (!is_valid_id(entry.change.key)) {
    return Error(Code::kInvalidInput, "a tombstone's key is not an id", "deleted");
  }
  const TableInfo* table = find_table(entry.change.table);
  if (table != nullptr && table->owner != RowOwner::kPrivate) return entry;
  return Error(Code::kInvalidInput,
               "there is no table \"" + entry.change.table.substr(0, limits::kSyncNameBytes) + "\"",
               "table");
}

// The members that parse_row() looks at: the others need not be copied for it.
Json what_names_it(const Json& row) {
  Json names = Json::object();
  const TableInfo* table = find_table(json_text(row, "table"));
  for (const char* member : {"table", "schema", "node", table != nullptr ? table->key : "table"}) {
    if (row.contains(member)) names[member] = row[member];
  }
  return names;
}

Result<Entry> take_entry(std::string_view text) {
  Json row = TRY(parse_json(text));
  if (!row.contains("schema")) return tombstone(row);
  Entry entry;
  entry.change = TRY(parse_row(what_names_it(row)));
  entry.change.row = std::move(row);
  entry.text = text;
  return entry;
}

}  // namespace

MessageText::MessageText(const Json& head) : text_(dump_json(head)) {
  text_.pop_back();
  text_ += kRows;
}

void MessageText::add(std::string_view text) {
  if (!empty_) text_ += ',';
  empty_ = false;
  text_ += text;
}

void MessageText::add_tombstone(const std::string& table, const std::string& key) {
  add(dump_json(Json{{"table", table}, {"deleted", key}}));
}

std::string MessageText::finish() && {
  text_ += kEnd;
  return std::move(text_);
}

Result<Message> take_message(std::string_view text) {
  if (text.size() > limits::kSyncMessageBytes) {
    return Error(Code::kTooLarge, "a message of rows has " + std::to_string(text.size()) +
                                      " bytes; at most " +
                                      std::to_string(limits::kSyncMessageBytes) + " are read");
  }
  // Heads hold ids, hashes and numbers: if these characters stood within one of its strings, what
  // lies before them would be no JSON.
  size_t rows = text.find(kRows);
  if (rows == std::string_view::npos) return malformed("it has no rows");
  Message message;
  message.head = TRY(parse_json(std::string(text.substr(0, rows)) + "}"));
  size_t at = rows + kRows.size();
  while (text.substr(at) != kEnd) {
    if (!message.rows.empty() && (at >= text.size() || text[at++] != ',')) {
      return malformed("rows are separated by commas, and nothing follows them");
    }
    std::string_view row = TRY(take_object(text, at));
    message.rows.push_back(TRY(take_entry(row)));
    if (message.rows.size() > static_cast<size_t>(limits::kSyncBatchRows)) {
      return Error(Code::kTooLarge, "more than " + std::to_string(limits::kSyncBatchRows) + " rows",
                   "rows");
    }
  }
  return message;
}

Status check_entry(const End& end, RowOwner owner, const Entry& entry) {
  const RowChange& change = entry.change;
  const TableInfo* table = find_table(change.table);
  if (table == nullptr || table->owner != owner) {
    return Error(Code::kForbidden, "a row of " + change.table + " is not its sender's to write",
                 "table");
  }
  const Json& site = json_member(change.row, "site");
  if (site.is_null() || (site.is_string() && site == end.site)) return {};
  return Error(Code::kForbidden,
               "row " + change.key + " of " + change.table + " is of another site than " + end.site,
               "site");
}

}  // namespace leasehold::sync
