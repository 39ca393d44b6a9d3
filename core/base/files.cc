#include "core/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace leasehold {
namespace {

Error io_error(const std::string& what, const std::string& path) {
  int number = errno;
  std::string advice;
  if (number == ENOSPC) advice = "; free space on its disk";
  if (number == EACCES || number == EPERM) advice = "; check its owner and mode";
  return Error(Code::kIo, what + " " + path + ": " + std::strerror(number) + advice);
}

Status write_all(int fd, std::string_view content, const std::string& path) {
  size_t written = 0;
  while (written < content.size()) {
    ssize_t count = ::write(fd, content.data() + written, content.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error("cannot write", path);
    written += static_cast<size_t>(count);
  }
  return {};
}

}  // namespace

void FileDescriptor::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

int FileDescriptor::release() {
  int fd = fd_;
  fd_ = -1;
  return fd;
}

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
  // A FIFO without a writer would hold up open() itself.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return io_error("cannot open", path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return io_error("cannot look at", path);
  if (!S_ISREG(info.st_mode)) {
    return Error(Code::kIo,
                 path + " is no regular file; write what it gives to a file, and name that");
  }
  std::string content;
  char buffer[65536];
  while (true) {
    ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error("cannot read", path);
    if (count == 0) return content;
    content.append(buffer, static_cast<size_t>(count));
    if (content.size() > max_bytes) {
      return Error(Code::kTooLarge, path + " is over " + std::to_string(max_bytes) + " bytes");
    }
  }
}

Status write_file_atomic(const std::string& path, std::string_view content, mode_t mode) {
  std::string temporary = path + ".new";
  FileDescriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode & 0777));
  if (!file.valid()) return io_error("cannot create", temporary);
  Status written = write_all(file.get(), content, temporary);
  if (written.ok() && ::fsync(file.get()) != 0) written = io_error("cannot sync", temporary);
  if (written.ok() && ::fchmod(file.get(), mode & 0777) != 0) {
    written = io_error("cannot set the mode of", temporary);
  }
  if (written.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = io_error("cannot rename to", path);
  }
  if (!written.ok()) {
    ::unlink(temporary.c_str());
    return written;
  }
  std::string folder = std::filesystem::path(path).parent_path().string();
  FileDescriptor parent(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (!parent.valid() || ::fsync(parent.get()) != 0) return io_error("cannot sync", folder);
  return {};
}

Result<std::string> read_secret_file(const std::string& path, size_t max_bytes) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return io_error("cannot read the secret file", path);
  if ((info.st_mode & 077) != 0) {
    return Error(Code::kConfig, path + " can be read by others; run: chmod 600 " + path);
  }
  std::string secret = TRY(read_file(path, max_bytes));
  if (!secret.empty() && secret.back() == '\n') secret.pop_back();
  if (secret.empty()) return Error(Code::kConfig, path + " is empty; it must hold the secret");
  return secret;
}

Result<Json> read_json_file(const std::string& path, size_t max_bytes) {
  Result<std::string> text = read_file(path, max_bytes);
  if (!text.ok()) return Error(Code::kConfig, text.error().message);
  Result<Json> value = parse_json(text.value(), max_bytes);
  if (!value.ok()) return Error(Code::kConfig, path + ": " + value.error().message);
  return value;
}

Status make_folders(const std::string& path, mode_t mode) {
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem) return Error(Code::kIo, "cannot create " + path + ": " + problem.message());
  if (::chmod(path.c_str(), mode) != 0) return io_error("cannot set the mode of", path);
  return {};
}

}  // namespace leasehold
