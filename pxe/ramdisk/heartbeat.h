// While a command is worked on, tells the gateway every limits::kRamdiskHeartbeatMs that the
// ramdisk lives: a machine that hangs in the middle of an erase must not be waited for for a day.
// One thread, from construction to destruction; what it cannot send it drops.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "pxe/ramdisk/gateway_client.h"

namespace leasehold {

class Heartbeat {
 public:
  Heartbeat(GatewayClient& gateway, std::string command);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void beat();

  GatewayClient& gateway_;
  std::string command_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace leasehold
