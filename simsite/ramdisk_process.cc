#include "simsite/ramdisk_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/base/files.h"

namespace leasehold::simsite {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// In the child between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(char* const* argv, char* const* environment, int console, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, 0);
  ::dup2(console, 1);
  ::dup2(console, 2);
  ::close_range(3, ~0U, 0);
  ::execve(argv[0], argv, environment);
  ::_exit(127);
}

// Field 6 of /proc/PID/stat; the name in field 2 may hold anything, also ")".
pid_t session_of(const std::string& pid) {
  std::string stat = read_file("/proc/" + pid + "/stat", 4096).value_or("");
  size_t end = stat.rfind(')');
  if (end == std::string::npos) return -1;
  int session = -1;
  if (std::sscanf(stat.c_str() + end + 1, " %*c %*d %*d %d", &session) != 1) return -1;
  return session;
}

}  // namespace

std::vector<pid_t> session_members(pid_t session) {
  std::vector<pid_t> members;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", problem)) {
    std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (session_of(name) == session) members.push_back(std::stoi(name));
  }
  return members;
}

RamdiskProcess::RamdiskProcess(pid_t pid, std::function<void(int)> on_exit)
    : pid_(pid), on_exit_(std::move(on_exit)) {}

Result<std::unique_ptr<RamdiskProcess>> RamdiskProcess::start(
    Loop& loop, const RamdiskCommand& command, std::function<void(int status)> on_exit) {
  FileDescriptor console(
      ::open(command.console_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!console.valid() || ::access(command.argv[0].c_str(), X_OK) != 0) {
    return Error(Code::kIo, "cannot start " + command.argv[0] + ": " + std::strerror(errno));
  }
  std::vector<std::string> argv = command.argv;
  std::vector<std::string> environment = command.environment;
  std::vector<char*> argv_pointers = pointers(argv);
  std::vector<char*> environment_pointers = pointers(environment);
  pid_t parent = ::getpid();
  pid_t pid = ::fork();
  if (pid < 0) return Error(Code::kIo, std::string("fork: ") + std::strerror(errno));
  if (pid == 0) become(argv_pointers.data(), environment_pointers.data(), console.get(), parent);
  std::unique_ptr<RamdiskProcess> process(new RamdiskProcess(pid, std::move(on_exit)));
  TRY(process->watch(loop));
  return process;
}

Status RamdiskProcess::watch(Loop& loop) {
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (pidfd_ < 0) return Error(Code::kIo, std::string("pidfd_open: ") + std::strerror(errno));
  auto* poll = new uv_poll_t;
  poll->data = this;
  if (uv_poll_init(loop.raw(), poll, pidfd_) != 0) {
    delete poll;
    return Error(Code::kIo, "libuv cannot watch a process");
  }
  poll_ = poll;
  uv_poll_start(poll_, UV_READABLE, on_readable);
  return {};
}

void RamdiskProcess::on_readable(uv_poll_t* handle, int, int) {
  auto* self = static_cast<RamdiskProcess*>(handle->data);
  int status = 0;
  if (::waitpid(self->pid_, &status, WNOHANG) != self->pid_) return;
  self->pid_ = -1;
  uv_poll_stop(handle);
  auto on_exit = std::move(self->on_exit_);
  on_exit(status);  // may destroy this object
}

RamdiskProcess::~RamdiskProcess() {
  if (pid_ > 0) {
    // Its tools run in process groups of their own, within its session.
    for (pid_t member : session_members(pid_)) ::kill(member, SIGKILL);
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (poll_ != nullptr) {
    uv_close(reinterpret_cast<uv_handle_t*>(poll_),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_poll_t*>(handle); });
  }
  if (pidfd_ >= 0) ::close(pidfd_);
}

}  // namespace leasehold::simsite
