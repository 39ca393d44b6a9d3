// One program of the product as a child process, for tests that go through its real sockets. Ends
// it by its pid with its owner. Its log goes to a file, where the test can read what was said.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/json.h"

namespace leasehold::test {

// Until `done` says so; false if it does not within `within_ms`.
inline bool eventually(const std::function<bool()>& done, int within_ms = 10'000) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(within_ms);
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

class RunningProgram {
 public:
  RunningProgram(std::vector<std::string> argv, std::string log_path)
      : log_path_(std::move(log_path)) {
    std::vector<char*> pointers;
    for (std::string& argument : argv) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    // Emptied here, so that nobody reads what a former program said.
    const int log = ::open(log_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    pid_ = ::fork();
    if (pid_ != 0) {
      ::close(log);
      return;
    }
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  ~RunningProgram() { stop(SIGTERM); }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  // Ends it, if it runs, and gives its exit code (128 + signal if one killed it).
  int stop(int signal) {
    if (pid_ > 0 && !reaped(0)) {
      ::kill(pid_, signal);
      if (!eventually([this] { return reaped(0); })) ::kill(pid_, SIGKILL), reaped(1);
    }
    return exit_code_;
  }
  // Waits for it to end by itself.
  int wait() {
    eventually([this] { return reaped(0); });
    return stop(SIGKILL);
  }
  pid_t pid() const { return pid_; }

  std::string log() const {
    std::stringstream text;
    text << std::ifstream(log_path_).rdbuf();
    return text.str();
  }
  // The first log line of that event, or null.
  Json find_event(const std::string& event) const {
    std::stringstream lines(log());
    for (std::string line; std::getline(lines, line);) {
      Result<Json> value = parse_json(line);
      if (value.ok() && json_text(value.value(), "event") == event) return value.value();
    }
    return nullptr;
  }
  // Waits for it; null if the program ended or said nothing of that kind in time.
  Json await_event(const std::string& event) {
    Json found;
    eventually([&] {
      found = find_event(event);
      return !found.is_null() || reaped(0);
    });
    return found.is_null() ? find_event(event) : found;
  }

 private:
  bool reaped(int block) {
    if (pid_ <= 0) return true;
    int status = 0;
    if (::waitpid(pid_, &status, block ? 0 : WNOHANG) != pid_) return false;
    exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    pid_ = 0;
    return true;
  }

  std::string log_path_;
  pid_t pid_ = 0;
  int exit_code_ = -1;
};

}  // namespace leasehold::test
