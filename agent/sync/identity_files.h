// The files of a site's identity, under the names that `site join` gives them, as one folder that
// is there whole or not at all. Keys are 0600. Called by the command `site join`; never overwrites.
#pragma once

#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace leasehold {

struct IdentityFile {
  std::string name;  // "site-ca.key"
  std::string content;
};

// A folder in the making, beside `out` and on the same disk. Without publish() nothing stays.
class NewFolder {
 public:
  // CONFLICT if `out` holds anything, IO if the folder above cannot be written.
  static Result<NewFolder> make(const std::string& out, Random& random);
  ~NewFolder();
  NewFolder(NewFolder&& other) noexcept;
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  NewFolder& operator=(NewFolder&&) = delete;

  // Durable when it returns; 0600 if the name ends in ".key", else 0644.
  Status write(const IdentityFile& file);
  // Gives the folder its name in one step. CONFLICT if something has come to lie there meanwhile.
  Status publish();
  std::string path(const std::string& name) const { return temporary_ + "/" + name; }
  const std::string& out() const { return out_; }

 private:
  NewFolder(std::string out, std::string temporary)
      : out_(std::move(out)), temporary_(std::move(temporary)) {}
  std::string out_;
  std::string temporary_;  // empty: published, or moved from
};

// The `identity` member of the agent's configuration for a folder of these files.
Json identity_member(const std::string& folder);

}  // namespace leasehold
