#include "pxe/ramdisk/direct_disk.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/base/check.h"

namespace leasehold {
namespace {

constexpr size_t kPageBytes = 4096;

Error disk_error(const char* what, const std::string& path, const char* problem) {
  return Error(Code::kIo, std::string(what) + " " + path + ": " + problem);
}

}  // namespace

AlignedBuffer::AlignedBuffer(size_t bytes)
    : data_(static_cast<char*>(std::aligned_alloc(kPageBytes, bytes))), size_(bytes) {
  LEASEHOLD_CHECK(bytes % kPageBytes == 0 && data_ != nullptr, "whole pages, and memory for them");
}

AlignedBuffer::~AlignedBuffer() { std::free(data_); }

Status DirectDisk::open(const std::string& path, Mode mode) {
  path_ = path;
  int flags = (mode == Mode::kReadOnly ? O_RDONLY : O_RDWR) | O_CLOEXEC;
  file_.reset(::open(path.c_str(), flags | O_DIRECT));
  direct_ = file_.valid();
  if (!direct_ && errno == EINVAL) file_.reset(::open(path.c_str(), flags));
  if (!file_.valid()) return disk_error("cannot open", path, std::strerror(errno));
  return measure();
}

Status DirectDisk::measure() {
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0) return disk_error("stat", path_, std::strerror(errno));
  if (S_ISBLK(info.st_mode)) {
    int logical_block = 0;
    if (::ioctl(file_.get(), BLKGETSIZE64, &size_bytes_) != 0 ||
        ::ioctl(file_.get(), BLKSSZGET, &logical_block) != 0) {
      return disk_error("cannot measure", path_, std::strerror(errno));
    }
    if (logical_block >= 512 && logical_block <= static_cast<int>(kPageBytes)) {
      unit_bytes_ = static_cast<uint64_t>(logical_block);
    }
  } else if (S_ISREG(info.st_mode)) {
    size_bytes_ = static_cast<uint64_t>(info.st_size);
  } else {
    return disk_error("cannot use", path_, "it is not a disk");
  }
  if (size_bytes_ % kPageBytes == 0) unit_bytes_ = kPageBytes;
  return {};
}

Status DirectDisk::read(uint64_t offset, char* data, size_t length) {
  size_t done = 0;
  while (done < length) {
    ssize_t count =
        ::pread(file_.get(), data + done, length - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    std::string where = "at byte " + std::to_string(offset + done) + " of";
    if (count < 0) return disk_error(("cannot read " + where).c_str(), path_, strerror(errno));
    if (count == 0) return disk_error(("cannot read " + where).c_str(), path_, "the disk ends");
    done += static_cast<size_t>(count);
  }
  return {};
}

Status DirectDisk::write(uint64_t offset, const char* data, size_t length) {
  size_t done = 0;
  while (done < length) {
    ssize_t count =
        ::pwrite(file_.get(), data + done, length - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    std::string where = "cannot write at byte " + std::to_string(offset + done) + " of";
    if (count <= 0) return disk_error(where.c_str(), path_, std::strerror(count < 0 ? errno : EIO));
    done += static_cast<size_t>(count);
  }
  return {};
}

Status DirectDisk::flush() {
  if (::fdatasync(file_.get()) != 0) return disk_error("cannot flush", path_, strerror(errno));
  return {};
}

}  // namespace leasehold
