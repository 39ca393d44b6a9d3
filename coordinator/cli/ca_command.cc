#include <CLI/CLI.hpp>
#include <memory>

#include "coordinator/cli/ca_init.h"
#include "coordinator/cli/command.h"

namespace leasehold {
namespace {

constexpr const char* kTable =
    "  root.pem, root.key                 root, 10 years          KEEP root.key OFFLINE, and a\n"
    "                                                             copy\n"
    "  issuing.pem, issuing.key           issuing CA, 2 years     coordinator only\n"
    "  coordinator.pem, coordinator.key   leaf, 45 days           coordinator only\n"
    "  operator.pem, operator.key         leaf, 45 days           the operator who uses this\n"
    "                                                             command\n"
    "  site-ca.pem, site-ca.key           site CA, 90 days        agent of the site only\n"
    "  site-agent.pem, site-agent.key     leaf, 45 days           agent of the site only\n"
    "  gateway.pem, gateway.key           leaf, 45 days           gateway of the site only\n"
    "  site-cas.json                      recorded site CAs       agent (not secret)\n"
    "root.pem is no secret: everyone who verifies needs it. A site that joins its coordinator\n"
    "makes keys of its own: then the files of the site here are not used.\n";

Result<int> init(const Console& console, const CaInitOptions& options) {
  SystemRandom random;
  TRY(ca_init(options, console.clock, random));
  if (console.json) {
    console.print_json(
        {{"domain", options.domain}, {"site", options.site}, {"folder", options.out}});
  } else {
    console.print("The certificate authority of " + options.domain + " with site " + options.site +
                  " is in " + harmless(options.out) + ":\n" + kTable);
  }
  return kExitDone;
}

}  // namespace

void add_ca_command(CLI::App& app, CommandLine& line) {
  CLI::App* noun = add_noun(app, "ca", "The certificate authority, offline");
  auto options = std::make_shared<CaInitOptions>();
  CLI::App* verb = add_verb(*noun, "init", "Make root, issuing CA, site CA and first leaves", line,
                            [options](const Console& console) { return init(console, *options); });
  const auto text = [verb](const char* name, auto& value, const char* help, const char* type) {
    return verb->add_option(name, value, help)->type_name(type);
  };
  text("--domain", options->domain, "Of all identities, as example.net", "DOMAIN")->required();
  text("--site", options->site, "Id of the first site, as s1", "SITE")->required();
  text("--out", options->out, "To make; must not exist, or be empty", "FOLDER")->required();
  text("--operator", options->operator_name, "Name of the first operator (admin)", "NAME");
  text("--gateway-dns", options->gateway_dns, "Of the site's gateway\n(gateway.SITE.DOMAIN)",
       "NAME");
  text("--gateway-ip", options->gateway_ips, "Of the site's gateway", "ADDRESS");
  text("--coordinator-dns", options->coordinator_dns, "Of the coordinator\n(coordinator.DOMAIN)",
       "NAME");
  text("--coordinator-ip", options->coordinator_ips, "Of the coordinator", "ADDRESS");
}

}  // namespace leasehold
