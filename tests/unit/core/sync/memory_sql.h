// A database in memory, with transactions and images of itself: what a file on a disk is to the
// product, without the disk. One thread.
#pragma once

#include <sqlite3.h>

#include <cstring>
#include <unordered_map>

#include "core/db/database.h"

namespace leasehold::test {

class MemorySql : public Sql {
 public:
  MemorySql() { LEASEHOLD_CHECK(sqlite3_open(":memory:", &db_) == SQLITE_OK, "no memory"); }
  ~MemorySql() override {
    for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    sqlite3_close(db_);
  }
  MemorySql(const MemorySql&) = delete;
  MemorySql& operator=(const MemorySql&) = delete;

  // All of it, or on an error nothing.
  Status transact(const std::function<Status(Sql&)>& work) {
    TRY(run("BEGIN"));
    Status status = work(*this);
    Status ended = run(status.ok() ? "COMMIT" : "ROLLBACK");
    return status.ok() ? ended : status;
  }
  // Makes this database what the other is.
  void copy_from(MemorySql& other) {
    sqlite3_backup* backup = sqlite3_backup_init(db_, "main", other.db_, "main");
    LEASEHOLD_CHECK(backup != nullptr && sqlite3_backup_step(backup, -1) == SQLITE_DONE &&
                        sqlite3_backup_finish(backup) == SQLITE_OK,
                    sqlite3_errmsg(db_));
  }

  Status run(const char* sql, const std::vector<SqlValue>& values = {}) override {
    return query(sql, values, [](const SqlRow&) {});
  }
  Status query(const char* sql, const std::vector<SqlValue>& values,
               const std::function<void(const SqlRow&)>& each) override {
    sqlite3_stmt* statement = prepared(sql);
    for (size_t i = 0; i < values.size(); ++i) bind(statement, static_cast<int>(i) + 1, values[i]);
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) each(SqlRow(statement));
    sqlite3_reset(statement);
    if (code == SQLITE_DONE) return {};
    return Error(Code::kDatabase, sqlite3_errmsg(db_));
  }
  int64_t last_insert_id() override { return sqlite3_last_insert_rowid(db_); }
  int64_t changes() override { return sqlite3_changes64(db_); }

 private:
  sqlite3_stmt* prepared(const char* sql) {
    auto found = statements_.find(sql);
    if (found != statements_.end()) return found->second;
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr);
    LEASEHOLD_CHECK(code == SQLITE_OK, sqlite3_errmsg(db_));
    statements_.emplace(sql, statement);
    return statement;
  }
  static void bind(sqlite3_stmt* statement, int index, const SqlValue& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) {
      sqlite3_bind_int64(statement, index, *integer);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_TRANSIENT,
                          SQLITE_UTF8);
    } else {
      sqlite3_bind_null(statement, index);
    }
  }
  sqlite3* db_ = nullptr;
  std::unordered_map<std::string, sqlite3_stmt*> statements_;
};

}  // namespace leasehold::test
