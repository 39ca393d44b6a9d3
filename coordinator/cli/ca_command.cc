#include "coordinator/cli/ca_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "coordinator/cli/command.h"

namespace leasehold {
namespace {

constexpr const char* kTable =
    "  root.pem, root.key                 root, 10 years          KEEP root.key OFFLINE, and a "
    "copy\n"
    "  issuing.pem, issuing.key           issuing CA, 2 years     coordinator; until then offline\n"
    "  site-ca.pem, site-ca.key           site CA, 90 days        agent of the site only\n"
    "  site-agent.pem, site-agent.key     leaf, 45 days           agent of the site only\n"
    "  gateway.pem, gateway.key           leaf, 45 days           gateway of the site only\n"
    "  coordinator.pem, coordinator.key   leaf, 45 days           coordinator\n"
    "  site-cas.json                      recorded site CAs       agent (not secret)\n"
    "root.pem is no secret: everyone who verifies needs it.\n";

void init(const CaInitOptions& options) {
  SystemClock clock;
  SystemRandom random;
  finish_command(ca_init(options, clock, random));
  std::printf("The certificate authority of %s with site %s is in %s:\n%s", options.domain.c_str(),
              options.site.c_str(), options.out.c_str(), kTable);
}

}  // namespace

void add_ca_command(CLI::App& app) {
  CLI::App* noun = app.add_subcommand("ca", "the certificate authority, offline");
  noun->require_subcommand(1);
  CLI::App* verb = noun->add_subcommand("init", "make root, issuing CA, site CA and first leaves");
  // Shared with the callback, which outlives this function.
  auto options = std::make_shared<CaInitOptions>();
  verb->add_option("--domain", options->domain, "domain of all identities, as example.net")
      ->required();
  verb->add_option("--site", options->site, "id of the first site, as s1")->required();
  verb->add_option("--gateway-dns", options->gateway_dns,
                   "DNS name of the site's gateway (default: gateway.SITE.DOMAIN)");
  verb->add_option("--gateway-ip", options->gateway_ips, "IP address of the site's gateway");
  verb->add_option("--out", options->out, "folder to make; must not exist, or be empty")
      ->required();
  verb->callback([options] { init(*options); });
}

}  // namespace leasehold
