// Knows a coordinator's database that was restored from a backup: each start raises a counter in
// the database and in a file beside it, which backups leave out. Behind or missing means restored;
// then nothing is written for a site before its agent has been met (core/sync). Used by main()
// before anything is served.
#pragma once

#include <cstdint>
#include <string>

#include "core/db/database.h"

namespace leasehold {

class StartMark {
 public:
  explicit StartMark(const std::string& state_dir) : path_(state_dir + "/starts") {}

  Status read();           // the file
  Status raise(Sql& sql);  // in the migration's transaction
  Status confirm();        // after it is durable

 private:
  std::string path_;
  int64_t in_file_ = -1;  // -1: there is none
  int64_t raised_ = 0;
};

}  // namespace leasehold
