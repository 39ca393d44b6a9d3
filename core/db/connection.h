// One SQLite connection, held exclusively: WAL, synchronous=FULL, statements prepared once. Owned
// by Database and used by one thread at a time (whoever has the writer's role). It turns SQLite's
// codes into ours: IO for the disk, DATABASE for a damaged file, CONFIG for one in use elsewhere.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/db/database.h"

namespace leasehold {

class Connection : public Sql {
 public:
  static Result<std::unique_ptr<Connection>> open(const std::string& path, const std::string& vfs);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Status run(const char* sql, const std::vector<SqlValue>& values) override;
  Status query(const char* sql, const std::vector<SqlValue>& values,
               const std::function<void(const SqlRow&)>& each) override;
  int64_t last_insert_id() override;
  int64_t changes() override;

  // False if no transaction is open, or if SQLite has rolled it back by itself (full disk).
  bool in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }
  // Frames in the write-ahead log since it last began anew.
  int wal_frames() const { return wal_frames_; }
  // Commits that wrote something, since the connection was opened.
  uint64_t commits() const { return commits_; }
  // Copies the log back into the database file, so that the log begins anew in place.
  Status checkpoint();
  // Writes the log's file to its full length once, so that commits overwrite and never grow it: an
  // fdatasync then has no metadata to write.
  Status extend_wal();

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Statement;  // taken out of the cache while it runs, so that a callback may run the same

  Connection(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
  Status set_up();
  Status quick_check();
  Result<sqlite3_stmt*> take(std::string_view sql);
  void give_back(std::string_view sql, sqlite3_stmt* statement);
  Error error(int code) const;
  static int on_wal(void* self, sqlite3*, const char*, int frames);

  sqlite3* db_;
  std::string path_;
  int wal_frames_ = 0;
  uint64_t commits_ = 0;
  std::unordered_map<std::string, sqlite3_stmt*, Hash, std::equal_to<>> statements_;
};

}  // namespace leasehold
