// Whole files, safely: bounded reads, and writes that are either the old or the new content after
// any crash (temporary file, fsync, rename, fsync of the folder). Any thread; blocks.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/result.h"

namespace leasehold {

// IO with the path and what to do, TOO_LARGE.
Result<std::string> read_file(const std::string& path, size_t max_bytes);
Status write_file_atomic(const std::string& path, std::string_view content, mode_t mode);
// A secret: the file must be readable by its owner only; CONFIG says how to mend it. A trailing
// newline is not part of the secret.
Result<std::string> read_secret_file(const std::string& path, size_t max_bytes);
// A configuration file: CONFIG naming the path for whatever is wrong with it.
Result<Json> read_json_file(const std::string& path, size_t max_bytes);
Status make_folders(const std::string& path, mode_t mode);

// Owns one file descriptor.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void reset(int fd = -1);
  int release();

 private:
  int fd_;
};

}  // namespace leasehold
