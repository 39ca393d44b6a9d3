// How fast rows get from a site into its coordinator's database: the stream in batches, and a copy
// of a million rows from nothing. Real files, synchronous=FULL, one commit per batch or chunk; what
// is measured is all that the receiver does, from a message's text to its durable rows (for the
// copy: what the sender does, too). The network is left out.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "core/base/files.h"
#include "core/command_line/options.h"
#include "core/sync/meet.h"
#include "core/sync/snapshot.h"
#include "core/sync/table_hash.h"

using namespace leasehold;

namespace {

constexpr double kGoalRowsPerS = 30'000;
constexpr double kGoalCatchupS = 60;
constexpr int kRowsOfRun = 20;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A database of one end, as its daemon opens it.
struct End {
  sync::End end;
  SystemRandom random = {};
  std::unique_ptr<Database> database = nullptr;

  void open(const std::string& path) {
    auto migrate = [this](Sql& sql) -> Status {
      TRY(row_store::migrate(sql, random, end.side.self));
      TRY(sync::migrate(sql));
      if (end.side.self == RowOwner::kSite) return {};
      return row_store::add_site(sql, end.side, random);
    };
    auto opened = Database::open({path, "", [](std::function<void()> task) { task(); }}, migrate);
    LEASEHOLD_CHECK(opened.ok(), opened.error().text());
    database = std::move(opened).value();
  }
  void transact(Database::Transaction work) {
    Status status = database->transact_and_wait(std::move(work));
    LEASEHOLD_CHECK(status.ok(), status.error().text());
  }
  sync::Position position() {
    sync::Position here;
    transact([&](Sql& sql) -> Status {
      here = TRY(sync::position(sql, end));
      return {};
    });
    return here;
  }
};

// What a run leaves behind: its row, a node's new state, steps and events.
RowChange row_of_run(int64_t run, int i) {
  std::string id = "r-" + std::to_string(run), node = "n-" + std::to_string(run % 10'000);
  const char* table = i == 0 ? "run" : i == 1 ? "node" : i < 12 ? "step" : "event";
  std::string key = i == 0 ? id : i == 1 ? node : id + "-p1-" + std::to_string(10 + i);
  Json row = {{"table", table},
              {"schema", 1},
              {"node", node},
              {"run", id},
              {"lease", "l-" + std::to_string(run)},
              {"title", "erase every disk of the manifest and read it back"},
              {"place", "metal-tenant-root-release@1/5/disk.wipe"},
              {"state", "done"},
              {"pass", 1},
              {"attempt", 1},
              {"startedAt", "2026-11-30T07:22:15.004Z"},
              {"finishedAt", "2026-11-30T07:25:40.119Z"},
              {"code", ""},
              {"message", ""}};
  row[find_table(table)->key] = key;
  return {table, key, std::move(row)};
}

void write_rows(End& site, int64_t rows) {
  constexpr int64_t kAtOnce = 20'000;
  for (int64_t done = 0; done < rows; done += kAtOnce) {
    site.transact([&](Sql& sql) -> Status {
      for (int64_t n = done; n < std::min(rows, done + kAtOnce); ++n) {
        TRY(row_store::put(sql, row_of_run(n / kRowsOfRun, static_cast<int>(n % kRowsOfRun)),
                           site.end.side));
      }
      return {};
    });
  }
}

void meet(End& site, End& coordinator) {
  sync::Position position = site.position();
  coordinator.transact([&](Sql& sql) -> Status {
    TRY(sync::meet(sql, coordinator.end, position, coordinator.random));
    return {};
  });
}

// Every chunk that the coordinator wants, one after another; the bytes that crossed.
size_t copy_all(End& site, End& coordinator) {
  size_t bytes = 0;
  std::vector<sync::ChunkRequest> wants = coordinator.position().wants;
  while (!wants.empty()) {
    std::string text;
    site.transact([&](Sql& sql) -> Status {
      text = TRY(sync::read_chunk(sql, site.end, wants.front()));
      return {};
    });
    auto chunk = sync::decode_chunk(text);
    LEASEHOLD_CHECK(chunk.ok(), chunk.error().text());
    coordinator.transact([&](Sql& sql) -> Status {
      auto applied =
          TRY(sync::apply_chunk(sql, coordinator.end, chunk.value(), coordinator.random));
      wants.clear();
      if (applied.next) wants.push_back(*applied.next);
      return {};
    });
    bytes += text.size();
  }
  return bytes;
}

// The batches behind the coordinator's cursor, as texts.
std::vector<std::string> read_batches(End& site, sync::Cursor from, int64_t& rows) {
  std::vector<std::string> texts;
  rows = 0;
  while (true) {
    sync::Outgoing out;
    site.transact([&](Sql& sql) -> Status {
      out = TRY(sync::read_batch(sql, site.end, from));
      return {};
    });
    LEASEHOLD_CHECK(!out.must_refetch, "the outbox does not hold the rows");
    if (out.upto == from.seq) return texts;
    rows += out.upto - from.seq;
    from.seq = out.upto;
    from.mark.clear();
    texts.push_back(std::move(out.text));
  }
}

double apply_batches(End& coordinator, const std::vector<std::string>& texts) {
  double begin = now_s();
  for (const std::string& text : texts) {
    auto batch = sync::decode_batch(text);
    LEASEHOLD_CHECK(batch.ok(), batch.error().text());
    coordinator.transact([&](Sql& sql) -> Status {
      auto applied = TRY(sync::apply_batch(sql, coordinator.end, batch.value()));
      LEASEHOLD_CHECK(!applied.gap && !applied.must_refetch, "a batch was not taken");
      return {};
    });
  }
  return now_s() - begin;
}

// The same bytes to the same disk: written and synced, piece by piece.
double write_raw(const std::string& path, size_t bytes, size_t piece_bytes) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  std::string piece(piece_bytes, 'x');
  double begin = now_s();
  for (size_t at = 0; at < bytes; at += piece.size()) {
    LEASEHOLD_CHECK(
        ::write(file.get(), piece.data(), piece.size()) == static_cast<ssize_t>(piece.size()),
        "cannot write " + path);
    LEASEHOLD_CHECK(::fdatasync(file.get()) == 0, "cannot sync " + path);
  }
  double seconds = now_s() - begin;
  std::filesystem::remove(path);
  return seconds;
}

void check_equal(End& site, End& coordinator) {
  sync::TableHashes hashes;
  site.transact([&](Sql& sql) -> Status {
    hashes = TRY(sync::table_hashes(sql, site.end, RowOwner::kSite));
    return {};
  });
  coordinator.transact([&](Sql& sql) -> Status {
    auto differing = TRY(sync::differing_tables(sql, coordinator.end, hashes));
    LEASEHOLD_CHECK(differing.empty(), "the copy differs");
    return {};
  });
}

double rounded(double value) { return std::round(value * 1000) / 1000; }

void print(const std::string& figure, double value, const std::string& unit, double goal,
           double limit) {
  Json raw = {{"name", "the same bytes written and fdatasynced in the same pieces"},
              {"value", rounded(limit)},
              {"unit", unit}};
  std::printf("%s\n", dump_json({{"figure", figure},
                                 {"value", rounded(value)},
                                 {"unit", unit},
                                 {"goal", goal},
                                 {"limit", raw}})
                          .c_str());
}

void measure_stream(const std::string& folder, int64_t rows) {
  End site{sync::End::of_site("s1")}, coordinator{sync::End::of_coordinator("s1")};
  site.open(folder + "/stream-site.db");
  coordinator.open(folder + "/stream-coordinator.db");
  meet(site, coordinator);
  copy_all(site, coordinator);
  write_rows(site, rows);
  int64_t read = 0;
  std::vector<std::string> texts = read_batches(site, coordinator.position().peer, read);
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  double seconds = apply_batches(coordinator, texts);
  double raw = write_raw(folder + "/raw", bytes, bytes / texts.size());
  check_equal(site, coordinator);
  auto count = static_cast<double>(read);
  print("sync.rows_per_s", count / seconds, "1/s", kGoalRowsPerS, count / raw);
  std::fprintf(stderr, "stream   %8.0f rows/s  of %.0f bytes, %zu batches (goal %.0f)\n",
               count / seconds, static_cast<double>(bytes) / count, texts.size(), kGoalRowsPerS);
}

void measure_catchup(const std::string& folder, int64_t rows) {
  End site{sync::End::of_site("s1")}, coordinator{sync::End::of_coordinator("s1")};
  site.open(folder + "/copy-site.db");
  coordinator.open(folder + "/copy-coordinator.db");
  write_rows(site, rows);
  double begin = now_s();
  meet(site, coordinator);
  size_t bytes = copy_all(site, coordinator);
  double seconds = now_s() - begin;
  double raw = write_raw(folder + "/raw", bytes, limits::kSyncBatchBytes);
  begin = now_s();
  check_equal(site, coordinator);
  double hashing = (now_s() - begin) / 2;
  print("sync.catchup_1m_s", seconds * 1e6 / static_cast<double>(rows), "s", kGoalCatchupS, raw);
  std::fprintf(stderr, "catch-up %8.1f s for %lld rows (goal %.0f); hashing one side %.1f s\n",
               seconds, static_cast<long long>(rows), kGoalCatchupS, hashing);
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder;
  int stream_rows = 90'000, copy_rows = 1'000'000;
  std::optional<int> exit_code = parse_options(
      argc, argv, "Rows from a site to its coordinator",
      {{"--dir", "folder on the disk to measure (default: beside the program)", &folder, false}},
      {{"--stream", "rows of the stream", &stream_rows, 1'000, 100'000},
       {"--copy", "rows of the copy", &copy_rows, 1'000, 10'000'000}});
  if (exit_code) return *exit_code;
  if (folder.empty()) folder = std::filesystem::canonical("/proc/self/exe").parent_path().string();
  std::string form = folder + "/sync-bench-XXXXXX";
  LEASEHOLD_CHECK(::mkdtemp(form.data()) != nullptr, "cannot create a folder in " + folder);
  measure_stream(form, stream_rows);
  measure_catchup(form, copy_rows);
  std::filesystem::remove_all(form);
  return 0;
}
