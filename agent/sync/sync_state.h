// What the threads of the row sync share: who must look again, where the coordinator stands, and
// whether it is heard. One mutex; every wait ends with stop(). Owned by Centre.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include "core/base/clock.h"
#include "core/sync/position.h"

namespace leasehold {

// Doubling waits with jitter, so that a thousand agents do not come back at once.
class Backoff {
 public:
  explicit Backoff(Random& random) : random_(random) {}
  int64_t next_ms();  // between half of the step and all of it
  void reset() { step_ms_ = 0; }

 private:
  Random& random_;
  int64_t step_ms_ = 0;
};

class SyncState {
 public:
  explicit SyncState(Clock& clock) : clock_(clock) {}

  // Something was committed: there may be rows to send.
  void rows_committed();
  uint64_t rows_signal() const;
  // Until rows_signal() has passed `seen`, the coordinator wants something, or stop().
  void wait_rows(uint64_t seen);

  // Both ends have met and rows may flow. False after stop().
  void set_linked(bool linked);
  bool wait_linked();
  // Somebody met what only a new hello settles, or the term changed.
  void look_again();
  // Until look_again() or the time is over; false after stop().
  bool wait_look(int64_t within_ms);
  // Shorter if the coordinator is heard again. False after stop().
  bool pause(int64_t ms);

  // Where the coordinator stands, as it said last.
  void told(const sync::Position& theirs);
  sync::Position theirs() const;

  // Logs a change of whether the coordinator is heard.
  void heard();
  void failed(const Error& error);
  Json status() const;  // {"connected","lastContactAt","error","acknowledged"}

  void stop();
  bool stopping() const;

 private:
  Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t rows_ = 0;
  uint64_t contacts_ = 0;  // how often the coordinator was heard after it had not been
  bool look_ = false;
  bool linked_ = false;
  bool stop_ = false;
  enum class Contact { kNone, kHeard, kLost } contact_ = Contact::kNone;
  int64_t heard_ms_ = 0;
  std::string error_;
  sync::Position theirs_;
};

}  // namespace leasehold
