// nvme, dcgmi and nvidia-smi on a simulated machine's PATH: one program under three names. It finds
// machine.json beside the name it was called by, hands its command line to the simulated site and
// prints what comes back. It decides nothing.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/base/files.h"
#include "core/base/limits.h"

namespace {

using namespace leasehold;

// The folder on PATH through which a program of that name is found here.
Result<Json> find_machine() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    std::string file = folder + "/machine.json";
    if (::access(file.c_str(), R_OK) == 0) return read_json_file(file, limits::kConfigBytes);
  }
  return Error(Code::kConfig, "no machine.json beside this tool on PATH");
}

Error socket_error(const std::string& path) {
  return Error(Code::kUnavailable, path + ": " + std::strerror(errno));
}

Status connect_to(const std::string& path, FileDescriptor& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return Error(Code::kConfig, path + " is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  socket.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return socket_error(path);
  }
  return {};
}

// One POST, by hand: libcurl and its forty libraries would take longer to load than most tools run.
// It waits as long as the site does; the caller has a limit.
Result<std::string> post(const std::string& socket_path, const std::string& path,
                         const std::string& body) {
  FileDescriptor socket;
  TRY(connect_to(socket_path, socket));
  std::string request = "POST " + path + " HTTP/1.1\r\nHost: simsite\r\nConnection: close\r\n" +
                        "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  for (size_t sent = 0; sent < request.size();) {
    ssize_t count =
        ::send(socket.get(), request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return socket_error(socket_path);
    sent += static_cast<size_t>(count);
  }
  std::string answer;
  char buffer[16384];
  ssize_t count;
  while ((count = ::read(socket.get(), buffer, sizeof buffer)) > 0) {
    answer.append(buffer, static_cast<size_t>(count));
  }
  size_t head = answer.find("\r\n\r\n");
  if (count < 0 || head == std::string::npos) {
    return Error(Code::kUnavailable, "no whole answer from " + socket_path);
  }
  if (!answer.starts_with("HTTP/1.1 200 ")) return Error(Code::kRefused, answer.substr(head + 4));
  return answer.substr(head + 4);
}

Result<int> run(int argc, char** argv) {
  Json machine = TRY(find_machine());
  Json words = Json::array();
  for (int i = 0; i < argc; ++i) words.push_back(argv[i]);
  std::string path = "/machines/" + TRY(json_string(machine, "machine")) + "/tools";
  std::string socket = TRY(json_string(machine, "control_socket"));
  Json answer = TRY(parse_json(TRY(post(socket, path, dump_json({{"argv", words}})))));
  std::fputs(json_text(answer, "out").c_str(), stdout);
  std::fflush(stdout);
  std::fputs(json_text(answer, "err").c_str(), stderr);
  return static_cast<int>(TRY(json_int(answer, "exit")));
}

}  // namespace

int main(int argc, char** argv) {
  Result<int> exit = run(argc, argv);
  if (exit.ok()) return exit.value();
  std::fprintf(stderr, "%s: %s\n", argv[0], exit.error().text().c_str());
  return 1;
}
