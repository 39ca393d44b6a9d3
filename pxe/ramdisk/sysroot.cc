#include "pxe/ramdisk/sysroot.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/base/files.h"
#include "core/base/limits.h"

namespace leasehold {

Sysroot::Sysroot(std::string root) : root_(std::move(root)) {
  while (!root_.empty() && root_.back() == '/') root_.pop_back();
}

std::string Sysroot::path(const std::string& relative) const { return root_ + "/" + relative; }

std::string Sysroot::text(const std::string& relative) const {
  return printable(trimmed(bytes(relative)), limits::kRamdiskTextBytes);
}

// A sysfs attribute may answer a read with an error (an NVMe controller that has died); that is
// the same as an attribute which is not there.
std::string Sysroot::bytes(const std::string& relative) const {
  FileDescriptor file(::open(path(relative).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return "";
  std::string content(limits::kRamdiskTextBytes, '\0');
  ssize_t count = ::read(file.get(), content.data(), content.size());
  content.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return content;
}

bool Sysroot::exists(const std::string& relative) const {
  return ::access(path(relative).c_str(), F_OK) == 0;
}

std::vector<std::string> Sysroot::list(const std::string& relative) const {
  std::vector<std::string> names;
  std::error_code problem;
  std::filesystem::directory_iterator it(path(relative), problem);
  for (; !problem && it != std::filesystem::directory_iterator(); it.increment(problem)) {
    if (names.size() >= limits::kRamdiskFolderEntries) break;
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string printable(std::string_view text, size_t max_bytes) {
  std::string out(text.substr(0, max_bytes));
  for (char& c : out) {
    bool keep = (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t';
    if (!keep) c = '?';
  }
  return out;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kPadding("\0 \t\r\n", 5);
  size_t first = text.find_first_not_of(kPadding);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kPadding) - first + 1));
}

}  // namespace leasehold
