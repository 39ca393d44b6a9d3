// Knows a database that is not the one this box ran last: restored from a backup, or a copy. Each
// start raises a counter in the database and in a file beside the vault key, which backups leave
// out. The file also names its own inode, so that a copy of it is known for one, and is locked
// while the agent lives, so that two agents with one vault key never run at once. Owned by main();
// used before the agent serves.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/files.h"
#include "core/db/database.h"

namespace leasehold {

class StartCounter {
 public:
  // Creates and locks the file. CONFIG if another agent holds it, IO.
  static Result<std::unique_ptr<StartCounter>> open(const std::string& vault_key_file);

  struct Start {
    int64_t number = 0;   // of this start, the same in both places
    bool own = false;     // false: restored or copied
    std::string finding;  // why not, for a log
    std::string box;      // names this box's file: never two agents at once behind one
  };
  // Once, in the migration's transaction: compares both and raises the database's.
  Result<Start> raise(Sql& sql);
  // After that transaction is durable.
  Status confirm(const Start& start);

 private:
  struct Content {
    int64_t number = 0;
    std::string self;  // "<device>-<inode>"
  };
  StartCounter(std::string path, int fd) : path_(std::move(path)), file_(fd) {}
  Result<Content> read() const;
  Result<std::string> self() const;
  std::string box(const std::string& self) const;

  std::string path_;
  FileDescriptor file_;
};

}  // namespace leasehold
