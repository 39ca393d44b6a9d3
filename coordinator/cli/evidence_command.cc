#include <CLI/CLI.hpp>
#include <memory>

#include "coordinator/cli/command.h"
#include "coordinator/cli/evidence_files.h"
#include "coordinator/cli/evidence_verify.h"

namespace leasehold {
namespace {

void add_evidence_list(CLI::App& noun, CommandLine& line) {
  auto options = std::make_shared<EvidenceListOptions>();
  CLI::App* verb = add_online_verb(
      noun, "list", "Which there is, and what the coordinator found", line,
      [options](Session& session) { return done(evidence_list(session, *options)); });
  verb->add_option("--site", options->site, "Only this site's")->type_name("SITE");
  verb->add_option("--node", options->node, "Only this machine's")->type_name("NODE");
  verb->add_option("--limit", options->most, "How many (50; 0: all)")
      ->check(whole_number(0, kMostCounted))
      ->type_name("COUNT");
}

void add_evidence_export(CLI::App& noun, CommandLine& line) {
  auto options = std::make_shared<EvidenceExportOptions>();
  CLI::App* verb = add_online_verb(
      noun, "export", "Write that of a run, with its receipt, to a file", line,
      [options](Session& session) { return done(evidence_export(session, *options)); });
  verb->add_option("RUN", options->run, "SITE/RUN, or RUN alone")->required()->type_name("");
  verb->add_option("--out", options->out, "The file; - is standard output")
      ->required()
      ->type_name("FILE");
  verb->add_flag("--force", options->force, "Replace a file that is something else");
}

Result<int> verify_body(const Console& console, EvidenceVerifyOptions& options) {
  options.json = console.json;
  const EvidenceVerdict verdict = TRY(evidence_verify(options));
  console.print(verdict.text);
  return verdict.verified ? kExitDone : kExitRefused;
}

void add_evidence_verify(CLI::App& noun, CommandLine& line) {
  auto options = std::make_shared<EvidenceVerifyOptions>();
  CLI::App* verb =
      add_verb(noun, "verify", "Check a file offline; exit code 1 if it fails", line,
               [options](const Console& console) { return verify_body(console, *options); });
  verb->add_option("FILE", options->file, "The evidence bundle")->required()->type_name("");
  verb->add_option("--root", options->root_file, "root.pem of the domain")->type_name("FILE");
  verb->add_option("--domain", options->domain, "Of all identities, as example.net")
      ->type_name("DOMAIN");
  verb->add_option("--config", options->config_file, "Where root and domain are if not given")
      ->type_name("FILE");
  verb->add_flag("--unreceipted", options->unreceipted,
                 "The file has no receipt: judge it by\n--site-ca and --at");
  verb->add_option("--site-ca", options->site_ca, "SHA-256 of the site CA, in hex")
      ->type_name("HEX");
  verb->add_option("--at", options->at, "When the file is known to have existed")
      ->type_name("TIME");
}

}  // namespace

void add_evidence_command(CLI::App& app, CommandLine& line) {
  CLI::App* noun = add_noun(app, "evidence", "Signed evidence of runs: list, export, verify");
  add_evidence_list(*noun, line);
  add_evidence_export(*noun, line);
  add_evidence_verify(*noun, line);
}

}  // namespace leasehold
