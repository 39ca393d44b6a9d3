// The agent's end of the socket that leasehold-gateway connects to (docs/protocols.md section 3):
// frames in, decisions out. Knows which certificate each connection of the gateway presented, so
// that a fence or a raised generation closes every connection of that node. Loop thread; owned by
// main().
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/machine_door.h"
#include "core/loop/framed_socket.h"

namespace leasehold {

// The frame of an answer. One that would not fit is a 500 to its own connection, because a frame
// that cannot be sent would end the link, and with it every machine's connection.
std::string reply_frame(int64_t number, const HttpResponse& response);

class GatewayLink {
 public:
  GatewayLink(Loop& loop, const Tools& tools, MachineDoor& door, std::string socket_path,
              std::vector<int64_t> gateway_uids);

  Status start();
  bool connected() const { return !links_.empty(); }
  // What a gateway's request for a renewed certificate is handed to; `answer` may be called later,
  // on the loop's thread. Without it such a request is not answered.
  using Renew = std::function<void(const std::string& csr_pem,
                                   std::function<void(const std::string& chain_pem)> answer)>;
  void on_renew(Renew renew) { renew_ = std::move(renew); }
  // Closes every connection whose certificate is of this node.
  void close_node(const std::string& node);

 private:
  struct Connection {
    std::string peer;
    std::string node;  // of its certificate; empty without one
    std::vector<std::string> chain_der;
  };
  // A gateway that connected: its connections by their numbers, which mean nothing elsewhere.
  struct Link {
    std::map<int64_t, Connection> connections;
  };
  void frame(uint64_t link, const std::string& text);
  void opened(uint64_t link, int64_t number, const Json& frame);
  void requested(uint64_t link, int64_t number, const Json& frame);
  void closed(uint64_t link, int64_t number);
  void renew(uint64_t link, const Json& frame);
  void link_lost(uint64_t link);
  void reply(uint64_t link, int64_t number, const HttpResponse& response);

  const Tools& tools_;
  MachineDoor& door_;
  FramedListener listener_;
  Renew renew_;
  std::map<uint64_t, Link> links_;
};

}  // namespace leasehold
