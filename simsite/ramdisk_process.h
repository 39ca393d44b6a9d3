// Starts the real ramdisk program as a simulated machine's operating system: a session of its own,
// its output on the machine's console, killed with this program. Cutting the power ends the whole
// session at once. Owned by the machine; used on the loop's thread, which sees the exit.
#pragma once

#include <sys/types.h>
#include <uv.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/loop/loop.h"

namespace leasehold::simsite {

struct RamdiskCommand {
  std::vector<std::string> argv;         // argv[0] is a path
  std::vector<std::string> environment;  // all of it
  std::string console_path;              // appended to
};

class RamdiskProcess {
 public:
  // IO if it cannot be started. `on_exit` is called once unless the process is killed first.
  static Result<std::unique_ptr<RamdiskProcess>> start(Loop& loop, const RamdiskCommand& command,
                                                       std::function<void(int status)> on_exit);
  ~RamdiskProcess();  // kills
  RamdiskProcess(const RamdiskProcess&) = delete;
  RamdiskProcess& operator=(const RamdiskProcess&) = delete;
  pid_t pid() const { return pid_; }

 private:
  RamdiskProcess(pid_t pid, std::function<void(int)> on_exit);
  Status watch(Loop& loop);
  static void on_readable(uv_poll_t* handle, int status, int events);

  pid_t pid_;
  std::function<void(int)> on_exit_;
  int pidfd_ = -1;
  uv_poll_t* poll_ = nullptr;  // freed by its close callback
};

// The processes of a session, from /proc.
std::vector<pid_t> session_members(pid_t session);

}  // namespace leasehold::simsite
