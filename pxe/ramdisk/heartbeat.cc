#include "pxe/ramdisk/heartbeat.h"

#include <chrono>

#include "core/base/limits.h"

namespace leasehold {

Heartbeat::Heartbeat(GatewayClient& gateway, std::string command)
    : gateway_(gateway), command_(std::move(command)), thread_([this] { beat(); }) {}

Heartbeat::~Heartbeat() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Heartbeat::beat() {
  std::unique_lock lock(mutex_);
  auto every = std::chrono::milliseconds(limits::kRamdiskHeartbeatMs);
  while (!wake_.wait_for(lock, every, [this] { return over_; })) {
    lock.unlock();
    // A lost beat is followed by another; silence is what the agent listens for.
    [[maybe_unused]] Status sent = gateway_.telemetry(command_);
    lock.lock();
  }
}

}  // namespace leasehold
