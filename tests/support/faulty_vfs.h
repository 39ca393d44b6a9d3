// A SQLite VFS that passes everything on to the system's until told otherwise: it counts the syncs
// of the write-ahead log (each is a durable commit), can end the world after one of them (nothing
// is written any more, as if the process had been killed there), and can be out of space.
// Registered under its own name while it lives; one per test. Thread-safe.
#pragma once

#include <atomic>
#include <string>

namespace leasehold::test {

class FaultyVfs {
 public:
  FaultyVfs();
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;
  const std::string& name() const { return name_; }

  std::atomic<int> log_syncs{0};     // durable commits so far
  std::atomic<int> end_after{0};     // the world ends after so many; 0: never
  std::atomic<bool> ended{false};    // that sync has happened
  std::atomic<bool> refused{false};  // and something tried to write after it
  std::atomic<bool> full{false};     // writes answer that the disk is full
  std::atomic<int> full_hits{0};

 private:
  struct Impl;
  Impl* impl_;
  std::string name_;
};

}  // namespace leasehold::test
