// The agent's whole side of its coordinator: the three threads of the row sync over one HttpClient
// of their own, and what stops them. Built and owned by main() when a coordinator is configured;
// start() and stop() from main's thread, the rest from any.
#pragma once

#include <thread>

#include "agent/sync/row_receiver.h"
#include "agent/sync/row_sender.h"
#include "agent/sync/site_link.h"
#include "core/curl/http_client.h"

namespace leasehold {

class Centre {
 public:
  struct Options {
    Loop* loop = nullptr;
    Database* database = nullptr;
    Intake* intake = nullptr;
    const Tools* tools = nullptr;  // gate included: an Authority
    SyncState* state = nullptr;
    SiteStanding* standing = nullptr;
    TrustedClock* trusted = nullptr;
    CoordinatorPlace place;
    StartCounter::Start start;
    std::function<Status()> act;               // SiteLink::Options
    std::function<void(const RunId&)> launch;  // loop thread
    std::function<void()> frozen;              // loop thread, once: nothing has an effect any more
    std::function<void(const Error&)> fatal;   // any thread
    std::function<void(CoordinatorClient&)> linked = [](CoordinatorClient&) {};
    int64_t takeover_wait_ms = limits::kTakeoverWaitMs;
    int64_t hello_ms = limits::kSyncHelloMs;
  };
  explicit Centre(Options options);
  ~Centre();
  Centre(const Centre&) = delete;
  Centre& operator=(const Centre&) = delete;

  void start();
  // On the loop's thread or after it ended: calls come back at once, then the threads are joined.
  void stop();
  // {"url","instance","standing","why","connected","lastContactAt","error","acknowledged"}
  Json status() const;

 private:
  SiteLink::Options link_options();
  RowReceiver::Options receiver_options();
  void told(const IntakeOutcome& outcome);
  void superseded(const std::string& why);

  Options options_;
  CurlMulti http_;
  CoordinatorClient client_;
  std::mutex starting_;
  bool acting_ = false;  // under starting_
  SiteLink link_;
  RowSender sender_;
  RowReceiver receiver_;
  std::vector<std::thread> threads_;
};

}  // namespace leasehold
