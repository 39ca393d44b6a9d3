#include <CLI/CLI.hpp>
#include <limits>
#include <memory>

#include "coordinator/cli/command.h"
#include "coordinator/cli/events.h"
#include "coordinator/cli/node_work.h"
#include "coordinator/cli/runs.h"

namespace leasehold {
namespace {

void add_events(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<EventsOptions>();
  CLI::App* verb =
      add_online_verb(app, "events", "What happened at the sites", line,
                      [options](Session& session) { return done(events(session, *options)); });
  verb->add_flag("--follow,-f", options->follow, "Then each event as it comes");
  verb->add_option("--site", options->site, "Only this site's")->type_name("SITE");
  verb->add_option("--node", options->node, "Only this node's (its id alone)")->type_name("NODE");
  verb->add_option("--last", options->last, "How many of the past (50; 0: all)")
      ->check(whole_number(0, kMostCounted))
      ->type_name("COUNT");
  verb->add_option("--after", options->after, "All after the event of this number")
      ->check(whole_number(0, std::numeric_limits<int64_t>::max()))
      ->type_name("N");
}

void add_audit(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* verb =
      add_online_verb(app, "audit", "Who called the coordinator, and for what", line,
                      [options](Session& session) { return done(audit(session, *options)); });
  verb->add_option("--last", options->last, "How many (50; 0: all)")
      ->check(whole_number(0, kMostCounted))
      ->type_name("COUNT");
  verb->add_option("--after", options->after, "Only after the call of this number")
      ->check(whole_number(0, std::numeric_limits<int64_t>::max()))
      ->type_name("N");
}

}  // namespace

void add_run_command(CLI::App& app, CommandLine& line) {
  CLI::App* noun = add_noun(app, "run", "Runs: teardowns, enrolments, inspections");
  auto list = std::make_shared<RunListOptions>();
  CLI::App* verb =
      add_online_verb(*noun, "list", "The newest runs", line,
                      [list](Session& session) { return done(run_list(session, *list)); });
  verb->add_option("--site", list->site, "Only this site's")->type_name("SITE");
  verb->add_option("--node", list->node, "Only this machine's")->type_name("NODE");
  verb->add_option("--state", list->state, "Only open, succeeded or failed ones")
      ->check(one_of({"open", "succeeded", "failed"}))
      ->type_name("STATE");
  verb->add_option("--limit", list->most, "How many (50; 0: all)")
      ->check(whole_number(0, kMostCounted))
      ->type_name("COUNT");
  auto run = std::make_shared<std::string>();
  const auto with_run = [run](CLI::App* it) {
    it->add_option("RUN", *run, "SITE/RUN, or RUN alone")->required()->type_name("");
  };
  with_run(add_online_verb(*noun, "show", "One run and its steps", line,
                           [run](Session& session) { return done(run_show(session, *run)); }));
  with_run(add_online_verb(*noun, "watch", "Each step as it is done; exit code 1 if it fails", line,
                           [run](Session& session) { return run_watch(session, *run); }));
}

void add_work_command(CLI::App& app, CommandLine& line) {
  CLI::App* noun = add_noun(app, "work", "What a site was asked to do");
  struct WorkArguments {
    std::string work;
    int64_t wait_s = 0;
  };
  auto arguments = std::make_shared<WorkArguments>();
  CLI::App* verb =
      add_online_verb(*noun, "show", "What became of it", line, [arguments](Session& session) {
        return done(work_show(session, arguments->work, arguments->wait_s));
      });
  verb->add_option("WORK", arguments->work, "Its id")->required()->type_name("");
  verb->add_option("--wait", arguments->wait_s, "Wait so long for the site's answer")
      ->check(whole_number(0, 86'400))
      ->type_name("SECONDS");
}

void add_history_commands(CLI::App& app, CommandLine& line) {
  add_events(app, line);
  add_audit(app, line);
}

}  // namespace leasehold
