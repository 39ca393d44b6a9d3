#include "core/sync/position.h"

#include "core/base/ids.h"
#include "core/sync/state.h"

namespace leasehold::sync {
namespace {

constexpr size_t kEpochDigits = 9;
constexpr size_t kIncarnationHex = 16;
constexpr size_t kMarkHex = 64;
constexpr size_t kWants = 2;

bool all_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

Result<std::string> incarnation_member(const Json& json, const std::string& name) {
  std::string text = TRY(json_string(json, name));
  Result<int64_t> epoch = epoch_of(text);
  if (!epoch.ok()) return Error(Code::kInvalidInput, epoch.error().message, name);
  return text;
}

Result<int64_t> number_member(const Json& json, const std::string& name) {
  int64_t number = TRY(json_int(json, name));
  if (number < 0) return Error(Code::kInvalidInput, "\"" + name + "\" is negative", name);
  return number;
}

// "" or what is a key: those that ids are made of.
Result<std::string> key_member(const Json& json, const std::string& name) {
  std::string text = TRY(json_string(json, name));
  if (text.empty() || is_valid_id(text)) return text;
  return Error(Code::kInvalidInput, "\"" + name + "\" is not a key", name);
}

Result<std::string> mark_member(const Json& json) {
  std::string mark = TRY(json_string(json, "mark"));
  if (mark.empty() || (mark.size() == kMarkHex && all_of(mark, "0123456789abcdef"))) return mark;
  return Error(Code::kInvalidInput, "\"mark\" is 64 hex digits, or empty", "mark");
}

Json numbered_json(const Numbered& entry) { return Json{{"seq", entry.seq}, {"mark", entry.mark}}; }

Result<Numbered> seen_member(const Json& json) {
  Json seen = TRY(json_object(json, "seen"));
  TRY(check_keys(seen, {"seq", "mark"}, "\"seen\""));
  Numbered entry;
  entry.seq = TRY(number_member(seen, "seq"));
  entry.mark = TRY(mark_member(seen));
  return entry;
}

}  // namespace

Result<int64_t> epoch_of(const std::string& incarnation) {
  if (incarnation.empty()) return int64_t{0};
  size_t hyphen = incarnation.find('-');
  std::string_view text = incarnation;
  bool good = hyphen != std::string::npos && hyphen > 0 && hyphen <= kEpochDigits &&
              incarnation[0] != '0' && all_of(text.substr(0, hyphen), "0123456789") &&
              text.size() == hyphen + 1 + kIncarnationHex &&
              all_of(text.substr(hyphen + 1), "0123456789abcdef");
  if (good) return int64_t{std::stol(incarnation)};
  return Error(Code::kInvalidInput, "\"" + incarnation.substr(0, 64) + "\" is not an incarnation",
               "incarnation");
}

Result<Position> position(Sql& sql, const End& end) {
  row_store::Stream own = TRY(row_store::stream(sql, end.side));
  Position here;
  here.incarnation = own.incarnation;
  here.seq = own.seq;
  here.kept_from = own.kept_from;
  here.restoring = own.restoring;
  here.peer = TRY(read_cursor(sql, end));
  std::optional<ChunkRequest> want =
      TRY(read_want(sql, end, own.restoring ? end.side.self : end.peer()));
  if (want) here.wants.push_back(std::move(*want));
  return here;
}

Json cursor_json(const Cursor& cursor) {
  return Json{{"incarnation", cursor.incarnation},
              {"seq", cursor.seq},
              {"mark", cursor.mark},
              {"seen", numbered_json(cursor.seen)}};
}

Result<Cursor> parse_cursor(const Json& json) {
  TRY(check_keys(json, {"incarnation", "seq", "mark", "seen"}, "a cursor"));
  Cursor cursor;
  cursor.incarnation = TRY(incarnation_member(json, "incarnation"));
  cursor.seq = TRY(number_member(json, "seq"));
  cursor.mark = TRY(mark_member(json));
  cursor.seen = TRY(seen_member(json));
  return cursor;
}

Json position_json(const Position& position) {
  Json wants = Json::array();
  for (const ChunkRequest& want : position.wants) wants.push_back(chunk_request_json(want));
  return Json{{"incarnation", position.incarnation}, {"seq", position.seq},
              {"keptFrom", position.kept_from},      {"restoring", position.restoring},
              {"peer", cursor_json(position.peer)},  {"wants", std::move(wants)}};
}

Result<Position> parse_position(const Json& json) {
  TRY(check_keys(json, {"incarnation", "seq", "keptFrom", "restoring", "peer", "wants"},
                 "a position"));
  Position position;
  position.incarnation = TRY(incarnation_member(json, "incarnation"));
  if (position.incarnation.empty()) {
    return Error(Code::kInvalidInput, "a stream has an incarnation", "incarnation");
  }
  position.seq = TRY(number_member(json, "seq"));
  position.kept_from = TRY(number_member(json, "keptFrom"));
  position.restoring = TRY(json_bool(json, "restoring"));
  position.peer = TRY(parse_cursor(TRY(json_object(json, "peer"))));
  Json wants = TRY(json_array(json, "wants"));
  if (wants.size() > kWants) return Error(Code::kInvalidInput, "too many wants", "wants");
  for (const Json& want : wants) {
    position.wants.push_back(TRY(parse_chunk_request(want)));
  }
  return position;
}

Json chunk_request_json(const ChunkRequest& request) {
  return Json{{"owner", owner_name(request.owner)},
              {"ticket", request.ticket},
              {"incarnation", request.incarnation},
              {"begin", request.begin},
              {"mark", request.mark},
              {"seen", numbered_json(request.seen)},
              {"table", request.table},
              {"after", request.after}};
}

Result<ChunkRequest> parse_chunk_request(const Json& json) {
  TRY(check_keys(json,
                 {"owner", "ticket", "incarnation", "begin", "mark", "seen", "table", "after"},
                 "a chunk request"));
  ChunkRequest request;
  request.owner = TRY(owner_from(TRY(json_string(json, "owner"))));
  request.ticket = TRY(key_member(json, "ticket"));
  request.incarnation = TRY(incarnation_member(json, "incarnation"));
  request.begin = TRY(number_member(json, "begin"));
  request.mark = TRY(mark_member(json));
  request.seen = TRY(seen_member(json));
  request.table = TRY(json_string(json, "table"));
  request.after = TRY(key_member(json, "after"));
  const TableInfo* table = find_table(request.table);
  if (table == nullptr || table->owner == RowOwner::kPrivate) {
    return Error(Code::kInvalidInput,
                 "there is no table \"" + request.table.substr(0, limits::kSyncNameBytes) + "\"",
                 "table");
  }
  if (table->owner != request.owner) {
    return Error(Code::kForbidden, "table " + request.table + " is not of that owner", "table");
  }
  return request;
}

}  // namespace leasehold::sync
