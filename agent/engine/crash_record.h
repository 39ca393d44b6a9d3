// Knows which runs have a step on a thread, and writes their ids into a file when the process dies
// by its own abort or fault signal (SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL), so that a run whose
// step crashes the agent again and again is found out. SIGKILL and power loss write nothing. Owned
// by the engine; one per process may be armed. enter() and leave() are lock-free, any thread.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/base/ids.h"
#include "core/base/limits.h"

namespace leasehold {

class CrashRecord {
 public:
  struct Crash {
    std::string life;  // of the process that crashed; the same crash is never counted twice
    RunId run;
  };
  CrashRecord();
  ~CrashRecord();  // gives the signals back
  CrashRecord(const CrashRecord&) = delete;
  CrashRecord& operator=(const CrashRecord&) = delete;

  // What the file holds of former lives; empty if there is no file.
  static Result<std::vector<Crash>> read(const std::string& path);
  // Empties the file and takes the signals. `life` names this process: letters, digits and '-'.
  Status arm(const std::string& path, const std::string& life);

  // This run has a step on the calling thread while the object lives.
  class OnThread {
   public:
    OnThread(CrashRecord& record, const RunId& run) : record_(record), slot_(record.enter(run)) {}
    ~OnThread() { record_.leave(slot_); }
    OnThread(const OnThread&) = delete;
    OnThread& operator=(const OnThread&) = delete;

   private:
    CrashRecord& record_;
    size_t slot_;
  };

 private:
  enum SlotState { kFree, kFilling, kUsed };
  struct Slot {
    std::atomic<int> state{kFree};
    char run[64];
  };
  static constexpr size_t kSlots = limits::kStepThreads + 16;

  size_t enter(const RunId& run);
  void leave(size_t slot);
  static void on_signal(int signal);
  void write_crash() const;

  std::array<Slot, kSlots> slots_;
  std::atomic<size_t> hint_{0};
  FileDescriptor file_;
  char life_[64] = {};
  bool armed_ = false;
};

}  // namespace leasehold
