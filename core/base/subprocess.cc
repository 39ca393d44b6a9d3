#include "core/base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/limits.h"

namespace leasehold {
namespace {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
  bool open() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return false;
    read_end.reset(fds[0]);
    write_end.reset(fds[1]);
    return true;
  }
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> child_environment(const std::vector<std::string>& extra) {
  std::vector<std::string> environment = {"LC_ALL=C"};
  for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name)) {
      environment.push_back(std::string(name) + "=" + value);
    }
  }
  environment.insert(environment.end(), extra.begin(), extra.end());
  return environment;
}

int spawn(pid_t& pid, std::vector<std::string> argv, std::vector<std::string> environment, int out,
          int err) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  sigset_t defaults;
  sigfillset(&defaults);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  int problem = ::posix_spawnp(&pid, argv[0].c_str(), &actions, &attributes, pointers(argv).data(),
                               pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return problem;
}

// Reads both pipes until they close; TIMEOUT or TOO_LARGE end it early.
Status collect(Pipe& out, Pipe& err, SubprocessOutcome& outcome, int64_t deadline_ms) {
  SystemClock clock;
  pollfd fds[2] = {{out.read_end.get(), POLLIN, 0}, {err.read_end.get(), POLLIN, 0}};
  std::string* sinks[2] = {&outcome.out, &outcome.err};
  int open_pipes = 2;
  while (open_pipes > 0) {
    int64_t left_ms = deadline_ms - clock.monotonic_ms();
    if (left_ms <= 0) return Error(Code::kTimeout, "did not end in time and was killed");
    if (::poll(fds, 2, static_cast<int>(std::min<int64_t>(left_ms, 1000))) < 0) {
      if (errno == EINTR) continue;
      return Error(Code::kIo, std::string("poll: ") + std::strerror(errno));
    }
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char buffer[16384];
      ssize_t count = ::read(fds[i].fd, buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        fds[i].fd = -1;
        --open_pipes;
        continue;
      }
      sinks[i]->append(buffer, static_cast<size_t>(count));
      if (sinks[i]->size() > limits::kSubprocessOutputBytes) {
        return Error(Code::kTooLarge, "printed too much and was killed");
      }
    }
  }
  return {};
}

int reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<SubprocessOutcome> run_subprocess(const SubprocessOptions& options) {
  LEASEHOLD_CHECK(!options.argv.empty(), "a subprocess needs a program");
  const std::string& program = options.argv[0];
  Pipe out;
  Pipe err;
  if (!out.open() || !err.open()) {
    return Error(Code::kIo, std::string("pipe: ") + std::strerror(errno));
  }
  pid_t pid = 0;
  int problem = spawn(pid, options.argv, child_environment(options.environment),
                      out.write_end.get(), err.write_end.get());
  if (problem == ENOENT) {
    return Error(Code::kUnsupported, program + " is not installed on this machine");
  }
  if (problem != 0) {
    return Error(Code::kIo, "cannot start " + program + ": " + std::strerror(problem));
  }
  out.write_end.reset();
  err.write_end.reset();
  SystemClock clock;
  SubprocessOutcome outcome;
  Status collected = collect(out, err, outcome, clock.monotonic_ms() + options.timeout_ms);
  if (!collected.ok()) ::kill(-pid, SIGKILL);
  outcome.exit_code = reap(pid);
  if (!collected.ok()) return std::move(collected).error().with(program);
  return outcome;
}

}  // namespace leasehold
