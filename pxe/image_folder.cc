#include "pxe/image_folder.h"

#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "pxe/boot_script.h"

namespace leasehold {
namespace {

// The only entry that equals `name` but for case, or "".
std::string find_without_case(const std::string& folder, const std::string& name) {
  std::string found;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string candidate = entry.path().filename().string();
    if (::strcasecmp(candidate.c_str(), name.c_str()) != 0) continue;
    if (!found.empty()) return "";
    found = candidate;
  }
  return found;
}

}  // namespace

Result<std::string> ImageFile::read(size_t offset, size_t max_bytes) {
  std::string piece(std::min(max_bytes, size_ - std::min(offset, size_)), '\0');
  size_t done = 0;
  while (done < piece.size()) {
    ssize_t count = ::pread(file_.get(), piece.data() + done, piece.size() - done,
                            static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error(Code::kIo, std::string("cannot read: ") + std::strerror(errno));
    if (count == 0) return Error(Code::kIo, "the file became shorter while it was served");
    done += static_cast<size_t>(count);
  }
  return piece;
}

Result<std::shared_ptr<ImageFile>> ImageFolder::open(const std::string& name) const {
  const Error missing(Code::kNotFound, "there is no such file in the image folder");
  if (!is_image_name(name)) return missing;
  // O_NONBLOCK: a FIFO must not hold up the loop before it is seen not to be a file.
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  FileDescriptor file(::open((path_ + "/" + name).c_str(), flags));
  if (!file.valid() && errno == ENOENT) {
    const std::string other = find_without_case(path_, name);
    if (!other.empty()) file.reset(::open((path_ + "/" + other).c_str(), flags));
  }
  if (!file.valid()) return missing;
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return missing;
  return std::make_shared<ImageFile>(file.release(), static_cast<size_t>(info.st_size));
}

std::string normalise_boot_path(std::string_view path) {
  auto is_tail = [](char c) { return c == '\xff' || c == '\0' || c == ' ' || c == '/'; };
  std::string plain;
  for (char c : path) {
    if (c == '\\') c = '/';
    if (c == '/' && (plain.empty() || plain.back() == '/')) {
      if (plain.empty()) plain = "/";
      continue;
    }
    if (plain.empty()) plain = "/";
    plain += c;
  }
  while (plain.size() > 1 && is_tail(plain.back())) plain.pop_back();
  return plain;
}

}  // namespace leasehold
