// A disk for read-back: reads and writes that go past every cache of the kernel (O_DIRECT), so that
// what is compared is what the disk holds. Owned and used by the one thread that wipes the disk.
// It never erases: that is a tool's work.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/files.h"
#include "core/base/result.h"

namespace leasehold {

// Page-aligned memory, as O_DIRECT wants it.
class AlignedBuffer {
 public:
  explicit AlignedBuffer(size_t bytes);
  ~AlignedBuffer();
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  char* data() { return data_; }
  size_t size() const { return size_; }

 private:
  char* data_;
  size_t size_;
};

class DirectDisk {
 public:
  enum class Mode { kReadOnly, kReadWrite };

  // IO. If the device takes no O_DIRECT it is opened without, and direct() is false.
  Status open(const std::string& path, Mode mode);
  bool direct() const { return direct_; }
  uint64_t size_bytes() const { return size_bytes_; }
  // Offsets and lengths are multiples of this: a page, or the logical block of an odd-sized disk.
  uint64_t unit_bytes() const { return unit_bytes_; }
  // Whole extents; IO names the offset. A short read is IO.
  Status read(uint64_t offset, char* data, size_t length);
  Status write(uint64_t offset, const char* data, size_t length);
  Status flush();

 private:
  Status measure();
  FileDescriptor file_;
  std::string path_;
  bool direct_ = false;
  uint64_t size_bytes_ = 0;
  uint64_t unit_bytes_ = 512;
};

}  // namespace leasehold
