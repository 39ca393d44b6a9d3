#include <CLI/CLI.hpp>
#include <memory>

#include "coordinator/cli/command.h"
#include "coordinator/cli/overview.h"
#include "coordinator/cli/sites.h"

namespace leasehold {

void add_overview_commands(CLI::App& app, CommandLine& line) {
  add_online_verb(app, "status", "Sites, machines, alarms and what needs a hand", line,
                  [](Session& session) { return done(overview(session)); });
  add_online_verb(app, "whoami", "Who the coordinator takes you for", line,
                  [](Session& session) { return done(whoami(session)); });
}

void add_site_command(CLI::App& app, CommandLine& line) {
  CLI::App* noun = add_noun(app, "site", "Sites, and the tokens that let them join");
  auto yes = std::make_shared<bool>(false);
  auto options = std::make_shared<SiteTokenOptions>();  // shared with the bodies, which outlive us
  add_online_verb(*noun, "list", "All sites and when they were last in contact", line,
                  [](Session& session) { return done(site_list(session)); });
  const auto with_site = [options](CLI::App* verb) {
    verb->add_option("SITE", options->site, "Its id")->required()->type_name("");
    return verb;
  };
  with_site(add_online_verb(
      *noun, "show", "One site: contact, rows behind, its CAs", line,
      [options](Session& session) { return done(site_show(session, options->site)); }));
  with_site(add_online_verb(
      *noun, "create", "Make a site; it joins later, with a token", line,
      [options](Session& session) { return done(site_create(session, options->site)); }));
  with_site(add_online_verb(*noun, "takeover", "The former agent's box is off for good", line,
                            [options, yes](Session& session) {
                              return done(site_takeover(session, options->site, *yes));
                            }))
      ->add_flag("--yes", *yes, "Do not ask");
  with_site(
      add_online_verb(*noun, "token", "A token to join with: good once, for 10 minutes", line,
                      [options](Session& session) { return done(site_token(session, *options)); }))
      ->add_option("--out", options->out, "Write the token to this file, mode 0600")
      ->type_name("FILE");
}

}  // namespace leasehold
