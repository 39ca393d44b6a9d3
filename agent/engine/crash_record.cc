#include "agent/engine/crash_record.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

namespace leasehold {
namespace {

constexpr int kFaults[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr size_t kFaultCount = sizeof kFaults / sizeof kFaults[0];

// A signal handler is told nothing but the number, so this is the one way to reach the object.
std::atomic<CrashRecord*> armed_record{nullptr};
struct sigaction former_actions[kFaultCount];

}  // namespace

CrashRecord::CrashRecord() = default;

CrashRecord::~CrashRecord() {
  if (!armed_) return;
  for (size_t i = 0; i < kFaultCount; ++i) sigaction(kFaults[i], &former_actions[i], nullptr);
  armed_record = nullptr;
}

Result<std::vector<CrashRecord::Crash>> CrashRecord::read(const std::string& path) {
  std::vector<Crash> crashes;
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) return crashes;
  std::istringstream lines(TRY(read_file(path, limits::kCrashFileBytes)));
  std::string life, run;
  // A line that the dying process could not finish names no valid run and is passed over.
  while (lines >> life >> run) {
    if (is_valid_id(run)) crashes.push_back({life, RunId(run)});
  }
  return crashes;
}

Status CrashRecord::arm(const std::string& path, const std::string& life) {
  CrashRecord* none = nullptr;
  if (!armed_record.compare_exchange_strong(none, this)) {
    return Error(Code::kConfig, "crashes are recorded already by another engine of this process");
  }
  file_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  if (!file_.valid()) {
    armed_record = nullptr;
    return Error(Code::kIo, "cannot write " + path + ": " + std::strerror(errno));
  }
  std::strncpy(life_, life.c_str(), sizeof life_ - 1);
  struct sigaction action {};
  action.sa_handler = &CrashRecord::on_signal;
  action.sa_flags = SA_RESETHAND | SA_ONSTACK | SA_NODEFER;
  for (size_t i = 0; i < kFaultCount; ++i) sigaction(kFaults[i], &action, &former_actions[i]);
  armed_ = true;
  return {};
}

size_t CrashRecord::enter(const RunId& run) {
  size_t start = hint_.fetch_add(1, std::memory_order_relaxed);
  for (size_t i = 0; i < kSlots; ++i) {
    size_t index = (start + i) % kSlots;
    int free = kFree;
    if (!slots_[index].state.compare_exchange_strong(free, kFilling)) continue;
    std::strncpy(slots_[index].run, run.str().c_str(), sizeof slots_[index].run - 1);
    slots_[index].state = kUsed;
    return index;
  }
  check_failed(__FILE__, __LINE__, "a free slot", "more steps on threads than there may be");
}

void CrashRecord::leave(size_t slot) { slots_[slot].state = kFree; }

// Only what POSIX allows in a handler: write(2), fdatasync(2), raise(3), and memory.
void CrashRecord::on_signal(int signal) {
  CrashRecord* record = armed_record.load();
  if (record != nullptr) record->write_crash();
  ::raise(signal);  // its default action now, because of SA_RESETHAND
}

void CrashRecord::write_crash() const {
  for (const Slot& slot : slots_) {
    if (slot.state.load() != kUsed) continue;
    char line[sizeof life_ + sizeof slot.run + 2];
    size_t size = 0;
    for (const char* c = life_; *c != '\0'; ++c) line[size++] = *c;
    line[size++] = ' ';
    for (const char* c = slot.run; *c != '\0'; ++c) line[size++] = *c;
    line[size++] = '\n';
    [[maybe_unused]] ssize_t written = ::write(file_.get(), line, size);
  }
  ::fdatasync(file_.get());
}

}  // namespace leasehold
