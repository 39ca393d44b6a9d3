#include "agent/sync/sync_state.h"

#include <algorithm>
#include <chrono>

#include "core/base/limits.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

std::chrono::milliseconds for_ms(int64_t ms) { return std::chrono::milliseconds(ms); }

}  // namespace

int64_t Backoff::next_ms() {
  step_ms_ = std::clamp(step_ms_ * 2, limits::kSyncBackoffFirstMs, limits::kSyncBackoffMaxMs);
  auto chance = static_cast<unsigned char>(random_.bytes(1)[0]);
  return step_ms_ / 2 + step_ms_ * chance / 512;
}

void SyncState::rows_committed() {
  std::lock_guard lock(mutex_);
  ++rows_;
  changed_.notify_all();
}

uint64_t SyncState::rows_signal() const {
  std::lock_guard lock(mutex_);
  return rows_;
}

void SyncState::wait_rows(uint64_t seen) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stop_ || rows_ != seen || !theirs_.wants.empty(); });
}

void SyncState::set_linked(bool linked) {
  std::lock_guard lock(mutex_);
  linked_ = linked;
  changed_.notify_all();
}

bool SyncState::wait_linked() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stop_ || linked_; });
  return !stop_;
}

void SyncState::look_again() {
  std::lock_guard lock(mutex_);
  look_ = true;
  changed_.notify_all();
}

bool SyncState::wait_look(int64_t within_ms) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, for_ms(within_ms), [&] { return stop_ || look_; });
  look_ = false;
  return !stop_;
}

bool SyncState::pause(int64_t ms) {
  std::unique_lock lock(mutex_);
  uint64_t seen = contacts_;
  changed_.wait_for(lock, for_ms(ms), [&] { return stop_ || contacts_ != seen; });
  return !stop_;
}

void SyncState::told(const sync::Position& theirs) {
  std::lock_guard lock(mutex_);
  theirs_ = theirs;
  changed_.notify_all();
}

sync::Position SyncState::theirs() const {
  std::lock_guard lock(mutex_);
  return theirs_;
}

void SyncState::heard() {
  {
    std::lock_guard lock(mutex_);
    heard_ms_ = clock_.now_ms();
    if (contact_ == Contact::kHeard) return;
    contact_ = Contact::kHeard;
    ++contacts_;
    error_.clear();
    changed_.notify_all();
  }
  log_line(LogEvent::kCoordinatorReached, Json::object());
}

void SyncState::failed(const Error& error) {
  {
    std::lock_guard lock(mutex_);
    if (stop_) return;
    error_ = scrubbed(error.text());
    if (contact_ == Contact::kLost) return;
    contact_ = Contact::kLost;
  }
  log_line(LogEvent::kCoordinatorAway, Json{{"message", scrubbed(error.text())}});
}

Json SyncState::status() const {
  std::lock_guard lock(mutex_);
  return Json{{"connected", contact_ == Contact::kHeard},
              {"lastContactAt", heard_ms_ == 0 ? "" : format_time(heard_ms_)},
              {"error", error_},
              {"acknowledged", theirs_.peer.seq}};
}

void SyncState::stop() {
  std::lock_guard lock(mutex_);
  stop_ = true;
  changed_.notify_all();
}

bool SyncState::stopping() const {
  std::lock_guard lock(mutex_);
  return stop_;
}

}  // namespace leasehold
