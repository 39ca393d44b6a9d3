// Hands the requests of machines to the agent and the agent's answers back: the one object of
// leasehold-gateway that knows both sides. It decides nothing about a request but its form; whoever
// is asking, and may they, is the agent's to say. Owned by main(), called on the loop's thread.
// Never logs or keeps a body: those carry CSRs, MACs of tokens and results.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "agent/gateway/frames.h"
#include "core/base/clock.h"
#include "core/base/limits.h"
#include "core/loop/http_server.h"
#include "core/loop/loop.h"

namespace leasehold {

struct RelayPorts {
  // Queues a frame to the agent, if there is one.
  std::function<void(std::string frame)> send;
  // Closes a machine's connection now.
  std::function<void(uint64_t connection)> close;
  // Bytes of frames that the agent has not taken yet.
  std::function<size_t()> unsent;
  // The agent has had the gateway's certificate renewed.
  std::function<void(const std::string& chain_pem)> certificate = [](const std::string&) {};
};

class Relay {
 public:
  Relay(Loop& loop, RelayPorts ports, int64_t answer_ms = limits::kGatewayAnswerMs);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // A machine's request; answered by the agent's reply, or with an error of ours.
  void handle(const ServerRequest& request, Responder respond);
  // The machine has closed its connection; the agent is told.
  void peer_gone(uint64_t connection);

  void agent_connected();
  // Closes every connection that the agent knew of: its state about them has gone with it.
  void agent_lost();
  // MALFORMED: the caller gives up this agent's connection.
  Status agent_frame(const std::string& text);

 private:
  struct Peer {
    Responder respond;  // set while the agent owes an answer
    uint64_t timer = 0;
  };
  Responder settle(Peer& peer);
  Status forward(const ServerRequest& request);
  Status check_body(const ServerRequest& request);
  void send(std::string frame, const std::string& address);
  void forget_sent();
  void log_refusal(const ServerRequest& request, const Error& error);
  void answer_overdue(uint64_t connection);

  Loop& loop_;
  RelayPorts ports_;
  int64_t answer_ms_;
  bool agent_ = false;
  struct Unsent {
    std::string address;
    size_t bytes = 0;
  };
  std::deque<Unsent> unsent_;  // frames that the agent may not have read yet, the oldest first
  size_t unsent_bytes_ = 0;
  std::map<std::string, size_t> unsent_of_;  // by peer address
  struct Refused {
    int64_t logged_ms = 0;
    int64_t unlogged = 0;  // since then
  };
  std::map<std::string, Refused> refused_;  // by peer address
  SystemClock clock_;
  std::map<uint64_t, Peer> peers_;  // those the agent knows, by connection
};

}  // namespace leasehold
