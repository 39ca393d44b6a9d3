#include "core/sync/table_hash.h"

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/sync/mark.h"
#include "core/sync/state.h"
#include "core/tls/crypto.h"

namespace leasehold::sync {
namespace {

constexpr size_t kPieceBytes = 64 << 10;
constexpr size_t kHashHex = 64;

Result<std::string> table_hash(Sql& sql, const End& end, const char* table) {
  RowsHash hash;
  std::string after;
  while (true) {
    std::vector<row_store::TextRow> rows =
        TRY(row_store::texts(sql, table, after, "", limits::kSyncReadRows, end.side));
    for (const row_store::TextRow& row : rows) hash.add(row.key, row.text);
    if (rows.size() < static_cast<size_t>(limits::kSyncReadRows)) return hash.hex();
    after = rows.back().key;
  }
}

// Which state this end's rows of that owner are.
Result<TableHashes> state_of(Sql& sql, const End& end, RowOwner owner) {
  row_store::Stream own = TRY(row_store::stream(sql, end.side));
  if (own.restoring) return Error(Code::kConflict, "a restore is not complete");
  TableHashes state;
  state.owner = owner;
  state.incarnation = own.incarnation;
  state.seq = own.seq;
  if (owner == end.side.self) return state;
  Cursor cursor = TRY(read_cursor(sql, end));
  std::optional<ChunkRequest> want = TRY(read_want(sql, end, owner));
  if (want || cursor.incarnation.empty()) {
    return Error(Code::kConflict, "a snapshot is not complete");
  }
  state.incarnation = cursor.incarnation;
  state.seq = cursor.seq;
  return state;
}

Status add_tables(Sql& sql, const End& end, TableHashes& hashes) {
  for (const TableInfo* table : tables_of(hashes.owner)) {
    hashes.tables[table->name] = TRY(table_hash(sql, end, table->name));
  }
  return {};
}

}  // namespace

std::string mark_of(const std::string& table, const std::string& key, const std::string& text) {
  return sha256_hex(table + "\n" + key + "\n" + text);
}

// Lengths first, so that no two lists of rows give the same bytes.
void RowsHash::add(std::string_view key, std::string_view text) {
  pending_ += std::to_string(key.size()) + "," + std::to_string(text.size()) + ":";
  pending_ += key;
  pending_ += text;
  if (pending_.size() >= kPieceBytes) flush();
}

void RowsHash::flush() {
  state_ = sha256(state_ + pending_);
  pending_.clear();
}

std::string RowsHash::hex() {
  flush();
  return hex_encode(state_);
}

Result<TableHashes> table_hashes(Sql& sql, const End& end, RowOwner owner) {
  TableHashes hashes = TRY(state_of(sql, end, owner));
  TRY(add_tables(sql, end, hashes));
  return hashes;
}

Json table_hashes_json(const TableHashes& hashes) {
  return Json{{"owner", owner_name(hashes.owner)},
              {"incarnation", hashes.incarnation},
              {"seq", hashes.seq},
              {"tables", hashes.tables}};
}

Result<TableHashes> parse_table_hashes(const Json& json) {
  TRY(check_keys(json, {"owner", "incarnation", "seq", "tables"}, "table hashes"));
  TableHashes hashes;
  hashes.owner = TRY(owner_from(TRY(json_string(json, "owner"))));
  hashes.incarnation = TRY(json_string(json, "incarnation"));
  TRY(epoch_of(hashes.incarnation));
  hashes.seq = TRY(json_int(json, "seq"));
  Json tables = TRY(json_object(json, "tables"));
  if (tables.size() > site_tables().size()) {
    return Error(Code::kInvalidInput, "there are not so many tables", "tables");
  }
  for (const auto& [name, hash] : tables.items()) {
    if (!hash.is_string() || hash.get_ref<const std::string&>().size() != kHashHex) {
      return Error(Code::kInvalidInput, "a hash is 64 hex digits", "tables");
    }
    hashes.tables[name] = hash.get<std::string>();
  }
  return hashes;
}

Result<std::vector<std::string>> differing_tables(Sql& sql, const End& end,
                                                  const TableHashes& theirs) {
  TableHashes mine = TRY(state_of(sql, end, theirs.owner));
  if (mine.incarnation != theirs.incarnation || mine.seq != theirs.seq) {
    return Error(Code::kConflict, "the hashes are of number " + std::to_string(theirs.seq) +
                                      ", this end is at " + std::to_string(mine.seq));
  }
  TRY(add_tables(sql, end, mine));
  std::vector<std::string> differing;
  for (const auto& [name, hash] : mine.tables) {
    auto found = theirs.tables.find(name);
    if (found == theirs.tables.end() || found->second != hash) differing.push_back(name);
  }
  for (const auto& [name, hash] : theirs.tables) {
    if (!mine.tables.contains(name)) differing.push_back(name);
  }
  return differing;
}

}  // namespace leasehold::sync
