#include "agent/sync/identity_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/base/files.h"

namespace leasehold {
namespace {

constexpr mode_t kSecretMode = 0600;
constexpr mode_t kPublicMode = 0644;
constexpr mode_t kFolderMode = 0711;  // the gateway's user reaches its two files, and lists nothing

Error not_empty(const std::string& out) {
  return Error(Code::kConflict,
               out + " holds something, which is never overwritten; name another folder", "out");
}

Error system_error(const std::string& what, int number) {
  return Error(Code::kIo, what + ": " + std::strerror(number));
}

Status check_free(const std::string& out) {
  std::error_code problem;
  bool exists = std::filesystem::exists(out, problem);
  if (!problem && exists && !std::filesystem::is_empty(out, problem) && !problem) {
    return not_empty(out);
  }
  if (problem) return Error(Code::kIo, "cannot look at " + out + ": " + problem.message());
  return {};
}

}  // namespace

Result<NewFolder> NewFolder::make(const std::string& out, Random& random) {
  std::filesystem::path folder = std::filesystem::path(out).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // a slash at the end
  std::string name = folder.string();
  if (name.empty()) return Error(Code::kInvalidInput, "name the folder to make", "out");
  TRY(check_free(name));
  std::string temporary = random_id(random, name + ".new");
  if (::mkdir(temporary.c_str(), 0700) != 0) {
    int number = errno;
    return system_error(
        "cannot create " + name + " (the folder above it must exist and be writable)", number);
  }
  return NewFolder(std::move(name), std::move(temporary));
}

NewFolder::NewFolder(NewFolder&& other) noexcept
    : out_(std::move(other.out_)), temporary_(std::exchange(other.temporary_, {})) {}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove_all(temporary_, ignored);
}

Status NewFolder::write(const IdentityFile& file) {
  mode_t mode = file.name.ends_with(".key") ? kSecretMode : kPublicMode;
  return write_file_atomic(path(file.name), file.content, mode);
}

// rename(2) takes an empty folder's place and no other's, whoever else is at work.
Status NewFolder::publish() {
  if (::chmod(temporary_.c_str(), kFolderMode) != 0) {
    return system_error("cannot set the mode of " + temporary_, errno);
  }
  if (::rename(temporary_.c_str(), out_.c_str()) != 0) {
    int number = errno;
    if (number == ENOTEMPTY || number == EEXIST || number == ENOTDIR) return not_empty(out_);
    return system_error("cannot rename to " + out_, number);
  }
  temporary_.clear();
  std::string parent = std::filesystem::path(out_).parent_path().string();
  FileDescriptor above(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_CLOEXEC));
  if (!above.valid() || ::fsync(above.get()) != 0) {
    return system_error("cannot sync the folder above " + out_, errno);
  }
  return {};
}

Json identity_member(const std::string& folder) {
  Json member = Json::object();
  member["root_file"] = folder + "/root.pem";
  member["site_cas_file"] = folder + "/site-cas.json";
  member["site_ca_file"] = folder + "/site-ca.pem";
  member["site_ca_key_file"] = folder + "/site-ca.key";
  member["certificate_file"] = folder + "/site-agent.pem";
  member["private_key_file"] = folder + "/site-agent.key";
  return member;
}

}  // namespace leasehold
