// Decides what this agent may do at its site, and keeps doing so. Says hello, lets both streams
// meet, brings a restored site's rows back, and only then lets the site act; a good start whose
// centre is away acts after a moment without it, one that was restored or copied never does. From
// time to time it says hello again and compares table hashes. One thread of its own; Centre owns
// it.
#pragma once

#include <condition_variable>
#include <mutex>

#include "agent/sync/authority.h"
#include "agent/sync/coordinator_client.h"
#include "agent/sync/standing.h"
#include "agent/sync/start_counter.h"
#include "agent/sync/sync_state.h"
#include "core/sync/meet.h"

namespace leasehold {

class SiteLink {
 public:
  struct Options {
    sync::End end;
    StartCounter::Start start;
    std::string enrolment;  // names the key that the site joined with
    Clock* clock = nullptr;
    Random* random = nullptr;
    TrustedClock* trusted = nullptr;
    const StartGate* gate = nullptr;
    SiteStanding* standing = nullptr;
    std::mutex* starting = nullptr;  // RowReceiver::Options
    // Once, under `starting`: open runs go on, the doors open. An error ends the program.
    std::function<Status()> act;
    // This process cannot go on; the next start can.
    std::function<void(const Error&)> fatal;
    // Table hashes differ: the coordinator's rows are wanted as a snapshot.
    std::function<Status()> refetch;
    // Each time both ends have met.
    std::function<void()> linked;
    int64_t takeover_wait_ms = limits::kTakeoverWaitMs;
    int64_t hello_ms = limits::kSyncHelloMs;
  };
  SiteLink(SyncState& state, CoordinatorClient& centre, Database& database, Options options);

  // In the migration, with the start that the counter found: a copy is no stream any more. Without
  // a coordinator it is only written down, for the day when there is one.
  static Status begin(Sql& sql, const sync::End& end, const StartCounter::Start& start,
                      bool has_coordinator);

  void run();  // the thread's body; until stop()
  // Never again, not even after a restart without the centre. Any thread.
  void remember_superseded();
  // run() returns soon, whatever it says to whom. Before the HTTP client is shut down.
  void close();

 private:
  Status remember();
  Status link();
  Result<bool> hello();
  Status met(Sql& sql, const sync::Position& theirs, bool restored, sync::Meeting& meeting);
  Status put_hello(Sql& sql, const char* verdict);
  Status fetch_own(sync::ChunkRequest want);
  Status settle();
  Status found_out_while_acting();
  void consider_acting(bool linked);
  void meet_and_act();
  bool waits_for_former();
  void tell_stopped();
  void act();
  void compare_hashes();
  Status compare(RowOwner owner);
  int64_t patience_ms(bool linked);

  SyncState& state_;
  CoordinatorClient& centre_;
  Database& database_;
  Options options_;
  Backoff backoff_;
  int64_t began_ms_;
  bool alone_is_good_ = false;  // the centre's last word to this very database was "go"
  bool superseded_ = false;     // a former life of this very enrolment was
  bool restored_ = false;       // this start, or one before it that never came to act
  bool settled_ = false;
  bool acting_ = false;
  Json former_;         // an agent elsewhere that may act still, as the coordinator said last
  int64_t met_ms_ = 0;  // of the first meeting of this process
  int64_t hashes_ms_ = 0;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool closing_ = false;
};

}  // namespace leasehold
