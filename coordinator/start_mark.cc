#include "coordinator/start_mark.h"

#include <charconv>
#include <filesystem>

#include "coordinator/store/starts.h"
#include "core/base/files.h"
#include "core/base/log.h"

namespace leasehold {

Status StartMark::read() {
  std::error_code problem;
  if (!std::filesystem::exists(path_, problem) && !problem) return {};
  const std::string text = TRY(read_file(path_, 64));
  auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), in_file_);
  if (wrong == std::errc() && in_file_ >= 0 && end != text.data()) return {};
  return Error(Code::kConfig, path_ +
                                  " is no number of starts; remove it, and the rows of every "
                                  "site are compared with the site's first");
}

Status StartMark::raise(Sql& sql) {
  const int64_t known = TRY(store::starts(sql));
  if (known > 0 && in_file_ < known) {
    // The file may be behind by the one start that ended before it was confirmed.
    if (in_file_ != known - 1) TRY(store::all_sites_restored(sql));
  } else if (in_file_ > known) {
    TRY(store::all_sites_restored(sql));
  }
  raised_ = std::max(known, in_file_) + 1;
  return store::put_starts(sql, raised_);
}

Status StartMark::confirm() {
  return write_file_atomic(path_, std::to_string(raised_) + "\n", 0600);
}

}  // namespace leasehold
