#include "agent/sync/start_counter.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/db/row_store.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

constexpr size_t kFileBytes = 4096;
constexpr const char* kRow = "starts";

Error system_error(const std::string& what, const std::string& path) {
  return Error(Code::kIo, what + " " + path + ": " + std::strerror(errno));
}

}  // namespace

Result<std::unique_ptr<StartCounter>> StartCounter::open(const std::string& vault_key_file) {
  std::string path = vault_key_file + ".starts";
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return Error(Code::kIo, "cannot open " + path + ": " + std::strerror(errno) +
                                "; the agent's user must be able to write beside its vault key");
  }
  std::unique_ptr<StartCounter> counter(new StartCounter(path, fd));
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return counter;
  if (errno != EWOULDBLOCK) return system_error("cannot lock", path);
  return Error(Code::kConfig, "another agent runs with the vault key " + vault_key_file +
                                  "; stop it first (it holds " + path + ")");
}

Result<std::string> StartCounter::self() const {
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0) return system_error("cannot look at", path_);
  return std::to_string(info.st_dev) + "-" + std::to_string(info.st_ino);
}

// Inodes of two machines may be alike; their machine ids are not, nor are two files of one machine.
std::string StartCounter::box(const std::string& self) const {
  return sha256_hex(read_file("/etc/machine-id", kFileBytes).value_or("") + "\n" + self);
}

// What cannot be read is as good as missing: the start is then not our own.
Result<StartCounter::Content> StartCounter::read() const {
  std::string text = TRY(read_file(path_, kFileBytes));
  Json json = parse_json(text).value_or(Json());
  Content content;
  content.number = json_int_or(json, "starts", 0).value_or(0);
  content.self = json_text(json, "self");
  return content;
}

Result<StartCounter::Start> StartCounter::raise(Sql& sql) {
  Content file = TRY(read());
  Json row = TRY(row_store::get(sql, "site_state", kRow));
  int64_t database = row.is_null() ? 0 : TRY(json_int(row, "number"));
  std::string own = TRY(self());
  Start start;
  start.box = box(own);
  // The database is raised first, so a kill in between leaves it ahead by one.
  bool in_step = database == file.number || database == file.number + 1;
  bool first = database == 0 && file.number == 0;
  if (!in_step) {
    start.finding = "the database has seen " + std::to_string(database) + " starts, " + path_ +
                    " knows " + std::to_string(file.number);
  } else if (!first && file.number == 0) {
    start.finding = path_ + " is missing or empty";
  } else if (file.number != 0 && file.self != own) {
    start.finding = path_ + " is a copy";
  }
  start.own = start.finding.empty();
  start.number = std::max(database, file.number) + 1;
  Json raised = {{"table", "site_state"}, {"schema", 1}, {"name", kRow}, {"number", start.number}};
  TRY(row_store::put(sql, RowChange{"site_state", kRow, std::move(raised)}));
  // A kill now must not leave the file two behind at the next start.
  if (start.own && file.number != 0 && file.number != database) {
    TRY(confirm(Start{database, true, {}, {}}));
  }
  return start;
}

// In place, because the file is known by its inode. A torn write is an unreadable file, which only
// costs a restore.
Status StartCounter::confirm(const Start& start) {
  std::string own = TRY(self());
  std::string text = dump_json(Json{{"self", own}, {"starts", start.number}}) + "\n";
  text.resize(std::max<size_t>(text.size(), 128), ' ');
  if (::pwrite(file_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      ::ftruncate(file_.get(), static_cast<off_t>(text.size())) != 0 ||
      ::fdatasync(file_.get()) != 0) {
    return system_error("cannot write", path_);
  }
  return {};
}

}  // namespace leasehold
