#include "core/db/connection.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/files.h"
#include "core/base/limits.h"
#include "core/db/wal_vfs.h"

namespace leasehold {
namespace {

Error sqlite_error(int code, const std::string& path, const std::string& message) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return Error(Code::kIo, "no room to write " + path + ": free space on its disk");
    case SQLITE_IOERR:
      return Error(Code::kIo, "cannot read or write " + path + " (" + message +
                                  "): check its disk: health, and free space");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Error(Code::kDatabase,
                   path + " is damaged (" + message +
                       "): stop the program, move this file and its -wal file aside, and restore "
                       "the newest backup");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error(Code::kConfig, path + " is locked: another agent uses it; stop that one first");
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return Error(Code::kConfig, "cannot open " + path + " (" + message +
                                      "): check that its folder exists, and its owner and mode");
    case SQLITE_CONSTRAINT:
      return Error(Code::kConflict, path + ": " + message);
    default:
      return Error(Code::kDatabase, path + ": " + message);
  }
}

int bind(sqlite3_stmt* statement, int index, const SqlValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return sqlite3_bind_int64(statement, index, *number);
  }
  // The values outlive the statement's run, so that SQLite need not copy them.
  if (const auto* text = std::get_if<std::string>(&value)) {
    return sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_STATIC,
                               SQLITE_UTF8);
  }
  if (const auto* blob = std::get_if<SqlBlob>(&value)) {
    return sqlite3_bind_blob64(statement, index, blob->bytes.data(), blob->bytes.size(),
                               SQLITE_STATIC);
  }
  return sqlite3_bind_null(statement, index);
}

// Nobody but the owner may read the database; SQLite gives its log the same mode.
Status create_private(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (file.valid()) return {};
  return Error(Code::kConfig, "cannot open " + path + " (" + std::strerror(errno) +
                                  "): check that its folder exists, and its owner and mode");
}

}  // namespace

int64_t SqlRow::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string SqlRow::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? std::string()
                          : std::string(static_cast<const char*>(bytes), static_cast<size_t>(size));
}

bool SqlRow::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path,
                                                     const std::string& vfs) {
  if (vfs.empty()) TRY(create_private(path));
  const char* system = TRY(wal_vfs());
  sqlite3* db = nullptr;
  int code = sqlite3_open_v2(
      path.c_str(), &db,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      vfs.empty() ? system : vfs.c_str());
  if (code != SQLITE_OK) {
    std::string message = db != nullptr ? sqlite3_errmsg(db) : "out of memory";
    sqlite3_close(db);
    return sqlite_error(code, path, message);
  }
  std::unique_ptr<Connection> connection(new Connection(db, path));
  TRY(connection->set_up());
  TRY(connection->quick_check());
  return connection;
}

Connection::~Connection() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

Status Connection::set_up() {
  // The lock is taken with the first read and kept until the end, so that two agents never share a
  // database; the log's index then lives in memory. The log is kept at its length (see extend_wal).
  const char* const kSettings[] = {
      "PRAGMA page_size=4096",    "PRAGMA locking_mode=EXCLUSIVE", "PRAGMA journal_mode=WAL",
      "PRAGMA synchronous=FULL",  "PRAGMA temp_store=MEMORY",      "PRAGMA journal_size_limit=-1",
      "PRAGMA cache_size=-16384",
  };
  std::string mode;
  for (const char* setting : kSettings) {
    TRY(query(setting, {}, [&](const SqlRow& row) {
      if (std::strstr(setting, "journal_mode") != nullptr) mode = row.text(0);
    }));
  }
  if (mode != "wal") {
    return Error(Code::kConfig, path_ + ": this file system allows no write-ahead log");
  }
  // A write takes the lock even where a read of an empty file would not.
  TRY(run("BEGIN EXCLUSIVE", {}));
  TRY(run("COMMIT", {}));
  sqlite3_wal_hook(db_, &Connection::on_wal, this);
  return {};
}

Status Connection::quick_check() {
  std::string verdict;
  TRY(query("PRAGMA quick_check(1)", {}, [&](const SqlRow& row) { verdict = row.text(0); }));
  if (verdict == "ok") return {};
  return sqlite_error(SQLITE_CORRUPT, path_, verdict);
}

Error Connection::error(int code) const { return sqlite_error(code, path_, sqlite3_errmsg(db_)); }

int Connection::on_wal(void* self, sqlite3*, const char*, int frames) {
  static_cast<Connection*>(self)->wal_frames_ = frames;
  ++static_cast<Connection*>(self)->commits_;
  return SQLITE_OK;
}

Result<sqlite3_stmt*> Connection::take(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found != statements_.end() && found->second != nullptr) {
    sqlite3_stmt* statement = found->second;
    found->second = nullptr;
    return statement;
  }
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()),
                                SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return error(code);
  return statement;
}

void Connection::give_back(std::string_view sql, sqlite3_stmt* statement) {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  auto found = statements_.find(sql);
  if (found == statements_.end() && statements_.size() < limits::kDatabaseStatements) {
    found = statements_.emplace(std::string(sql), nullptr).first;
  }
  if (found != statements_.end() && found->second == nullptr) {
    found->second = statement;
    return;
  }
  sqlite3_finalize(statement);
}

Status Connection::run(const char* sql, const std::vector<SqlValue>& values) {
  return query(sql, values, [](const SqlRow&) {});
}

Status Connection::query(const char* sql, const std::vector<SqlValue>& values,
                         const std::function<void(const SqlRow&)>& each) {
  sqlite3_stmt* statement = TRY(take(sql));
  int code = SQLITE_OK;
  for (size_t i = 0; i < values.size() && code == SQLITE_OK; ++i) {
    code = bind(statement, static_cast<int>(i) + 1, values[i]);
  }
  if (code == SQLITE_OK) {
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) each(SqlRow(statement));
  }
  Status status;
  if (code != SQLITE_DONE) status = error(code);
  give_back(sql, statement);
  return status;
}

int64_t Connection::last_insert_id() { return sqlite3_last_insert_rowid(db_); }
int64_t Connection::changes() { return sqlite3_changes64(db_); }

Status Connection::checkpoint() {
  int code = sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  wal_frames_ = 0;
  return {};
}

Status Connection::extend_wal() {
  std::string path = path_ + "-wal";
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  struct stat info {};
  if (!file.valid() || ::fstat(file.get(), &info) != 0) return {};  // a VFS of another kind
  // Zeros after the last frame are no frames: their salt is not the header's.
  const std::string zeros(64 << 10, '\0');
  auto at = static_cast<size_t>(info.st_size);
  if (at >= limits::kWalBytesKept) return {};
  while (at < limits::kWalBytesKept) {
    size_t size = std::min(zeros.size(), limits::kWalBytesKept - at);
    ssize_t written = ::pwrite(file.get(), zeros.data(), size, static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return sqlite_error(errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR, path, std::strerror(errno));
    }
    at += static_cast<size_t>(written);
  }
  if (::fdatasync(file.get()) != 0) return sqlite_error(SQLITE_IOERR, path, std::strerror(errno));
  return {};
}

}  // namespace leasehold
