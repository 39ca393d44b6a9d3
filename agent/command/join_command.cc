#include <iostream>

#include "agent/command/command.h"
#include "agent/sync/site_join.h"
#include "core/base/files.h"
#include "core/base/harmless.h"
#include "core/curl/http_client.h"

namespace leasehold {
namespace {

struct JoinArguments {
  SiteJoinOptions options;
  std::string token_file;
};

// Never from the command line, which every user of the box can read.
Result<std::string> read_token(const std::string& file) {
  if (file != "-") return read_secret_file(file, limits::kJoinTokenBytes);
  std::string line;
  std::getline(std::cin, line);
  if (!line.empty() && line.size() <= limits::kJoinTokenBytes) return line;
  return Error(Code::kInvalidInput, "standard input must hold the token in one line", "token-file");
}

Result<Json> join(JoinArguments& arguments) {
  arguments.options.token = TRY(read_token(arguments.token_file));
  CurlEasyClient http;
  SystemClock clock;
  SystemRandom random;
  return site_join(arguments.options, http, clock, random);
}

}  // namespace

void add_site_command(CLI::App& app, CommandSettings& settings) {
  CLI::App* site = app.add_subcommand("site", "This site and its coordinator");
  site->require_subcommand(1);
  CLI::App* verb = site->add_subcommand(
      "join", "Make this site's keys and have them certified by the coordinator");
  auto arguments = std::make_shared<JoinArguments>();
  SiteJoinOptions& options = arguments->options;
  verb->add_option("--coordinator", options.coordinator, "Its URL, https://HOST:PORT")->required();
  verb->add_option("--address", options.address, "Connect to this ADDRESS:PORT instead of HOST");
  verb->add_option("--site", options.site, "The site's id")->required();
  verb->add_option("--token-file", arguments->token_file,
                   "File of mode 0600 with the one-time token, or - for standard input")
      ->required();
  verb->add_option("--root-sha256", options.root_sha256,
                   "SHA-256 of the root certificate, as the operator read it out")
      ->required();
  verb->add_option("--gateway-dns", options.gateway_dns, "Name of the gateway for machines");
  verb->add_option("--gateway-ip", options.gateway_ips, "Address of the gateway for machines");
  verb->add_option("--out", options.out, "Folder to make for keys and certificates")->required();
  verb->callback([&settings, arguments] {
    Result<Json> members = join(*arguments);
    if (!members.ok()) {
      settings.exit_code = print_error(members.error());
      return;
    }
    if (settings.json) {
      std::cout << harmless_json(dump_json(members.value())) << "\n";
      return;
    }
    std::cout << "site " << arguments->options.site << " has joined. For its configuration:\n"
              << harmless_json(dump_json_pretty(members.value()))
              << "\nThe gateway's user needs gateway.pem and gateway.key of that folder; the "
                 "agent's user everything else.\n";
  });
}

}  // namespace leasehold
