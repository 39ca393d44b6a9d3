// The machine as files: everything the ramdisk program learns about the hardware it reads below one
// root ("/" on a real machine). Owned by main(), read by every thread; it changes nothing. What it
// reads was written by firmware or by whoever had the machine before, so each text is bounded,
// trimmed of padding and reduced to printable characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

class Sysroot {
 public:
  explicit Sysroot(std::string root);
  // "sys/block" below the root.
  std::string path(const std::string& relative) const;
  // The trimmed, printable text of a small file; "" if there is none.
  std::string text(const std::string& relative) const;
  // As text(), but the bytes as they are.
  std::string bytes(const std::string& relative) const;
  bool exists(const std::string& relative) const;
  // Names in a folder, sorted; empty if there is none. At most limits::kRamdiskFolderEntries.
  std::vector<std::string> list(const std::string& relative) const;

 private:
  std::string root_;
};

// At most `max_bytes` of printable ASCII, tabs and newlines; every other byte becomes '?'.
std::string printable(std::string_view text, size_t max_bytes);
// Without blanks, newlines and NULs at both ends.
std::string trimmed(std::string_view text);

}  // namespace leasehold
