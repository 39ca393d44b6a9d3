// nvme, dcgmi and nvidia-smi on a simulated machine's PATH: one program under three names. It finds
// machine.json beside the name it was called by, hands its command line to the simulated site and
// prints what comes back. It decides nothing.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "core/base/files.h"
#include "core/base/limits.h"
#include "core/curl/http_client.h"

namespace {

using namespace leasehold;

constexpr int64_t kToolMs = 24LL * 3600 * 1000;  // a format may take hours; the caller has a limit

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

Result<int> run(int argc, char** argv) {
  Json machine = TRY(find_machine());
  Json words = Json::array();
  for (int i = 0; i < argc; ++i) words.push_back(argv[i]);
  HttpRequest request;
  request.method = "POST";
  request.url = "http://simsite/machines/" + TRY(json_string(machine, "machine")) + "/tools";
  request.body = dump_json({{"argv", words}});
  HttpOptions options;
  options.unix_socket_path = TRY(json_string(machine, "control_socket"));
  options.timeout_ms = kToolMs;
  CurlEasyClient client;
  HttpResponse response = TRY(client.send(request, options));
  if (response.status != 200) return Error(Code::kRefused, response.body);
  Json answer = TRY(parse_json(response.body));
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
