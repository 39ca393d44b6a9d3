// Which MAC may boot what, and who has fetched a run document: the whole state of leasehold-bootd.
// In memory only; a restarted bootd boots nothing until the agent arms again. A run document holds
// a join token, so it is handed out once, and every later request for it becomes a claim that the
// agent hears of. Owned by main(), called on the loop's thread; never touches a socket or a file.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"

namespace leasehold {

// What the agent armed for one MAC and one power-on.
struct Arming {
  std::string mac;   // normalised, see normalise_mac()
  std::string boot;  // the power-on's id, valid as ids.h says
  std::string kernel;
  std::string initrd;
  std::string cmdline;
  std::string document;  // compact JSON; secret, because it holds the token
  int64_t seconds = 0;
};

// One request for a run document that was given out by it (count 1) or before it (2 and up).
struct Claim {
  int64_t n = 0;  // from 1, without gaps
  std::string boot;
  std::string mac;
  std::string peer;
  int64_t count = 0;
  int64_t at_ms = 0;
};

class BootTable {
 public:
  explicit BootTable(Clock& clock) : clock_(clock) {}

  // Replaces what the MAC had. CONFLICT if the boot id was ever armed; UNAVAILABLE if too many
  // MACs are armed.
  Status arm(Arming arming);
  void disarm(const std::string& mac);
  // The armed boot of a MAC, or nullptr; valid until the next call.
  const Arming* find(const std::string& mac);

  enum class Take { kGiven, kGone, kUnknown };
  struct Taken {
    Take take = Take::kUnknown;
    std::string document;  // kGiven
    int64_t count = 0;     // of the claim; 0 when unknown
    std::string mac;
  };
  // Consumes the document of a boot. A boot that expired, was disarmed or was replaced before its
  // document was taken is unknown.
  Taken take_document(const std::string& boot, const std::string& peer);

  // Claims with n > after. An `after` of a former life of bootd, above the newest claim, gives all.
  std::vector<Claim> claims_after(int64_t after) const;
  size_t armed_count() const { return armed_.size(); }

 private:
  struct Record {
    std::string mac;
    int64_t claims = 0;
  };
  void expire();
  void append_claim(const std::string& boot, const Record& record, const std::string& peer);
  void remember(const std::string& boot, const std::string& mac);

  struct Armed {
    Arming arming;
    int64_t until_ms = 0;  // monotonic
  };
  Clock& clock_;
  std::map<std::string, Armed> armed_;     // by MAC
  std::map<std::string, Record> records_;  // by boot id: every one ever armed, newest kept
  std::deque<std::string> record_order_;   // oldest first
  std::deque<Claim> claims_;
  int64_t last_claim_ = 0;
};

// "52:54:00:77:00:10" from that text in either case, with ':' or '-'. INVALID_INPUT.
Result<std::string> normalise_mac(std::string_view text);

}  // namespace leasehold
