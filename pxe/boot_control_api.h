// The agent's side of leasehold-bootd: arm, disarm, and hear of claims by long poll, over a Unix
// socket whose peers the server has checked (docs/protocols.md section 1). Owned by main(), called
// on the loop's thread; never answers with a run document.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "core/loop/http_server.h"
#include "core/loop/loop.h"
#include "pxe/boot_table.h"
#include "pxe/image_folder.h"

namespace leasehold {

class BootControlApi {
 public:
  // `incarnation` differs in each life of the process, so that the agent sees that all it armed is
  // gone and that claims count from 1 again.
  BootControlApi(Loop& loop, BootTable& table, const ImageFolder& images, std::string incarnation,
                 int64_t poll_ms = limits::kBootClaimPollMs);
  ~BootControlApi();
  BootControlApi(const BootControlApi&) = delete;
  BootControlApi& operator=(const BootControlApi&) = delete;

  void handle(const ServerRequest& request, Responder respond);
  void claims_changed();
  void connection_closed(uint64_t connection);

 private:
  struct Poll {
    uint64_t connection = 0;
    int64_t after = 0;
    uint64_t timer = 0;
    Responder respond;
  };
  HttpResponse arm(const std::string& mac, const std::string& body);
  HttpResponse disarm(const std::string& mac);
  void poll_claims(const ServerRequest& request, Responder respond);
  HttpResponse claims_response(int64_t after) const;
  void answer_poll(std::deque<Poll>::iterator poll);

  Loop& loop_;
  BootTable& table_;
  const ImageFolder& images_;
  std::string incarnation_;
  int64_t poll_ms_;
  std::deque<Poll> polls_;  // oldest first
};

}  // namespace leasehold
