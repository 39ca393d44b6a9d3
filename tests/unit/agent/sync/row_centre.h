// The coordinator's rows of one site behind a FakeCentre: a real database with the real core/sync,
// and the simplest answers of section 2 over it. Tests only.
#pragma once

#include "core/rows/coordinator_rows.h"
#include "core/sync/meet.h"
#include "core/sync/snapshot.h"
#include "core/sync/stream.h"
#include "core/sync/table_hash.h"
#include "tests/unit/agent/sync/fake_centre.h"

namespace leasehold::test {

class RowCentre {
 public:
  RowCentre(const LiveAuthority& authority, const std::string& database_path,
            const std::string& site = "s1", uint16_t port = 0)
      : end_(sync::End::of_coordinator(site)),
        http(authority, IdentityKind::kCoordinator, "coordinator.example.net", port) {
    database_ = Database::open({database_path, "", {}}, [&](Sql& sql) -> Status {
                  TRY(row_store::migrate(sql, random_, RowOwner::kCoordinator));
                  TRY(sync::migrate(sql));
                  return row_store::add_site(sql, end_.side, random_);
                }).value();
    http.answer("/v1/sync/hello", [this](const ServerRequest&, const Json& b) { return hello(b); });
    http.answer("/v1/sync/push", [this](const ServerRequest& r, const Json&) { return push(r); });
    http.answer("/v1/sync/chunk",
                [this](const ServerRequest& r, const Json& b) { return chunk(r, b); });
    http.answer("/v1/sync/hashes",
                [this](const ServerRequest&, const Json& b) { return hashes(b); });
    http.door("/v1/sync/pull", [this](const ServerRequest& r, const Json& b, Responder respond) {
      pull(r, b, std::move(respond));
    });
  }

  Status in(const std::function<Status(Sql&)>& body) { return database_->transact_and_wait(body); }
  Json row(const std::string& table, const std::string& key) {
    Json found;
    REQUIRE(in([&](Sql& sql) -> Status {
              found = TRY(row_store::get(sql, table, key, end_.side));
              return {};
            }).ok());
    return found;
  }
  // A row of the coordinator's for the site; polls are answered.
  void tell(const RowChange& change) {
    REQUIRE(in([&](Sql& sql) { return row_store::put(sql, change, end_.side); }).ok());
    wake();
  }
  void grant(int64_t for_ms) {
    AuthorityRow authority;
    SystemClock clock;
    authority.time_ms = clock.now_ms();
    authority.until_ms = authority.time_ms + for_ms;
    tell(authority.change());
  }
  void work(const std::string& id, const std::string& node, const std::string& kind) {
    tell(RowChange{
        "work", id,
        Json{{"table", "work"}, {"schema", 1}, {"work", id}, {"node", node}, {"kind", kind}}});
  }
  void wake() {
    http.on_loop([this] {
      for (auto& [cursor, respond] : std::exchange(parked_, {})) look(cursor, std::move(respond));
    });
  }
  // Of another agent that may act still: {"heardAt","until"}, or null.
  void set_former(const Json& former) {
    http.on_loop([this, former] { former_ = former; });
  }
  size_t hellos() const { return http.asked("/v1/sync/hello").size(); }

 private:
  using Parked = std::pair<sync::Cursor, Responder>;

  HttpResponse refused(const Error& error) { return error_response(error); }
  static HttpResponse text(std::string body) { return json_response(200, std::move(body)); }

  Status newest(const ServerRequest& request) const {
    // As the coordinator's: nobody has said hello to this start of it.
    if (instance_.empty()) return Error(Code::kConflict, "say hello first");
    if (header_value(request.headers, "X-Leasehold-Instance") == instance_) return {};
    return Error(Code::kSuperseded, "a newer agent of this site said hello");
  }

  HttpResponse hello(const Json& body) {
    std::string instance = json_text(body, "instance");
    int64_t starts = json_int(body, "startCounter").value_or(0);
    bool other = instance != instance_;
    bool copied = other && starts <= starts_;
    instance_ = instance;
    starts_ = starts;
    // The same agent may say hello again while it waits for rows.
    for (auto& [cursor, respond] : other ? std::exchange(parked_, {}) : std::vector<Parked>()) {
      respond(refused(Error(Code::kSuperseded, "a newer agent of this site said hello")));
    }
    sync::Meeting meeting;
    Status met = in([&](Sql& sql) -> Status {
      sync::Position theirs = TRY(sync::parse_position(json_member(body, "stream")));
      meeting = TRY(sync::meet(sql, end_, theirs, random_));
      return {};
    });
    if (!met.ok()) return refused(met.error());
    bool restored = copied || meeting.theirs == sync::Standing::kRestored;
    SystemClock clock;
    return text(dump_json(Json{{"time", format_time(clock.now_ms())},
                               {"verdict", restored ? "restored" : "go"},
                               {"former", former_},
                               {"stream", sync::position_json(meeting.position)}}));
  }

  HttpResponse push(const ServerRequest& request) {
    Status may = newest(request);
    if (!may.ok()) return refused(may.error());
    sync::Position position;
    Status applied = in([&](Sql& sql) -> Status {
      Result<sync::Chunk> chunk = sync::decode_chunk(request.body);
      if (chunk.ok()) {
        TRY(sync::apply_chunk(sql, end_, chunk.value(), random_));
      } else {
        sync::Batch batch = TRY(sync::decode_batch(request.body));
        TRY(sync::apply_batch(sql, end_, batch));
      }
      position = TRY(sync::position(sql, end_));
      return {};
    });
    if (!applied.ok()) return refused(applied.error());
    return text(dump_json(
        Json{{"cursor", sync::position_json(position)}, {"mustRefetch", !position.wants.empty()}}));
  }

  void pull(const ServerRequest& request, const Json& body, Responder respond) {
    Status may = newest(request);
    if (!may.ok()) return respond(refused(may.error()));
    Result<sync::Cursor> cursor = sync::parse_cursor(json_member(body, "cursor"));
    if (!cursor.ok()) return respond(refused(cursor.error()));
    look(cursor.value(), std::move(respond));
  }

  void look(const sync::Cursor& cursor, Responder respond) {
    sync::Outgoing out;
    Status read = in([&](Sql& sql) -> Status {
      out = TRY(sync::read_batch(sql, end_, cursor));
      return {};
    });
    if (!read.ok()) return respond(refused(read.error()));
    if (!out.must_refetch && out.upto == cursor.seq) {
      parked_.emplace_back(cursor, std::move(respond));
      return;
    }
    respond(text(std::move(out.text)));
  }

  HttpResponse chunk(const ServerRequest& request, const Json& body) {
    Status may = newest(request);
    if (!may.ok()) return refused(may.error());
    std::string made;
    Status read = in([&](Sql& sql) -> Status {
      sync::ChunkRequest want = TRY(sync::parse_chunk_request(body));
      made = TRY(sync::read_chunk(sql, end_, want));
      return {};
    });
    return read.ok() ? text(std::move(made)) : refused(read.error());
  }

  HttpResponse hashes(const Json& body) {
    std::vector<std::string> tables;
    Status compared = in([&](Sql& sql) -> Status {
      sync::TableHashes theirs = TRY(sync::parse_table_hashes(body));
      tables = TRY(sync::differing_tables(sql, end_, theirs));
      if (!tables.empty() && theirs.owner == RowOwner::kSite) {
        TRY(sync::want_snapshot(sql, end_, random_));
      }
      return {};
    });
    if (!compared.ok()) return refused(compared.error());
    return text(dump_json(Json{{"equal", tables.empty()}, {"tables", tables}}));
  }

  sync::End end_;
  SystemRandom random_;
  std::unique_ptr<Database> database_;
  std::string instance_;
  int64_t starts_ = 0;
  Json former_;
  std::vector<Parked> parked_;

 public:
  FakeCentre http;  // last: its thread ends before what it works on
};

}  // namespace leasehold::test
