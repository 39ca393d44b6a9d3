// SQLite with a thread of its own and group commit: transactions queued together share one fsync
// (WAL, synchronous=FULL), each inside its own savepoint, so that one that fails undoes only
// itself. A slow disk stalls this thread, never the loop's. Callbacks are handed to `deliver`
// (Loop::post) after the commit is durable. The file is held exclusively, so that two agents never
// share it; its log (-wal) stays beside it at a fixed length until the close. Owned by main().
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"

namespace leasehold {

struct SqlBlob {
  std::string bytes;
};
using SqlValue = std::variant<std::nullptr_t, int64_t, std::string, SqlBlob>;

// A row of a result; columns by index.
class SqlRow {
 public:
  explicit SqlRow(sqlite3_stmt* statement) : statement_(statement) {}
  int64_t integer(int column) const;
  std::string text(int column) const;  // also blobs
  bool is_null(int column) const;

 private:
  sqlite3_stmt* statement_;
};

// Inside a transaction, on the database's thread. Statements are prepared once and cached.
class Sql {
 public:
  virtual ~Sql() = default;
  virtual Status run(const char* sql, const std::vector<SqlValue>& values = {}) = 0;
  virtual Status query(const char* sql, const std::vector<SqlValue>& values,
                       const std::function<void(const SqlRow&)>& each) = 0;
  virtual int64_t last_insert_id() = 0;
  virtual int64_t changes() = 0;
};

class Database {
 public:
  struct Options {
    std::string path;
    std::string vfs;  // a SQLite VFS by name, or "" for the system's
    std::function<void(std::function<void()>)> deliver;
    // Told after each durable commit that changed something, on the thread that made it; must not
    // block. May be empty.
    std::function<void()> committed = nullptr;
  };
  using Transaction = std::function<Status(Sql&)>;
  using Callback = std::function<void(Status)>;

  // Opens and checks the file (quick_check), DATABASE with its path if it is damaged, CONFIG if it
  // cannot be opened or another process holds it; runs `migrate` in one transaction; then starts
  // the thread.
  static Result<std::unique_ptr<Database>> open(Options options, Transaction migrate);
  ~Database();  // finishes what is queued
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Queues a transaction. An error from it, or from the commit (IO: disk full), means that nothing
  // of it happened; `done` is told after the commit is durable, in order of queueing.
  void transact(Transaction transaction, Callback done);
  // The same, blocking; not on the thread that `deliver` runs on, and never inside a transaction.
  // If nobody else waits, the caller's thread does the work itself, which saves two thread
  // switches.
  Status transact_and_wait(Transaction transaction);

 private:
  class Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold
