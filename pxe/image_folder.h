// The folder of boot images (kernel, initrd), served file by file. Names come from firmware, which
// writes them oddly (quirk X14): a leading slash, backslashes, another case, a trailing 0xFF or
// NUL. Reads pieces on demand, so that eight clients of a large initrd cost eight small buffers.
// Owned by main(), called on the loop's thread; never writes, never leaves its folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/files.h"
#include "core/base/result.h"
#include "core/http/message.h"

namespace leasehold {

// One open regular file, read at the size it had when it was opened.
class ImageFile : public BodySource {
 public:
  // `fd` becomes this object's.
  ImageFile(int fd, size_t size) : file_(fd), size_(size) {}
  size_t size() const override { return size_; }
  Result<std::string> read(size_t offset, size_t max_bytes) override;

 private:
  FileDescriptor file_;
  size_t size_;
};

class ImageFolder {
 public:
  explicit ImageFolder(std::string path) : path_(std::move(path)) {}

  // By exact name, else by the only name that differs in case alone. NOT_FOUND.
  Result<std::shared_ptr<ImageFile>> open(const std::string& name) const;

 private:
  std::string path_;
};

// The path of a request as firmware may have written it, made plain: one leading '/', no empty
// segment, '/' for '\', without trailing 0xFF, NUL and blanks.
std::string normalise_boot_path(std::string_view path);

}  // namespace leasehold
