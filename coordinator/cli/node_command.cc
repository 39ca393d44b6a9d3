#include <CLI/CLI.hpp>
#include <memory>

#include "coordinator/cli/command.h"
#include "coordinator/cli/node_work.h"
#include "coordinator/cli/nodes.h"

namespace leasehold {
namespace {

struct NodeArguments {
  NodeListOptions list;
  NodeWorkOptions work;
  std::string node;
  std::string location;
  std::string on;
  std::vector<std::string> changes;
};
using Arguments = std::shared_ptr<NodeArguments>;  // shared with the bodies, which outlive us

CLI::App* with_node(CLI::App* verb, std::string& node) {
  verb->add_option("NODE", node, "SITE/NODE, or NODE if only one\nsite has it")
      ->required()
      ->type_name("");
  return verb;
}

void add_node_readers(CLI::App& noun, CommandLine& line, const Arguments& a) {
  CLI::App* list = add_online_verb(noun, "list", "The machines", line, [a](Session& session) {
    return done(node_list(session, a->list));
  });
  list->add_option("--site", a->list.site, "Only this site's")->type_name("SITE");
  list->add_option("--pool", a->list.pool, "Only this pool's")->type_name("POOL");
  list->add_option("--state", a->list.state, "Only those that are ready, failed, ...")
      ->check(CLI::IsMember(
          {"enrolling", "ready", "deploying", "deployed", "releasing", "failed", "retired"}))
      ->type_name("STATE");
  with_node(add_online_verb(noun, "show", "One machine: state, disks, newest runs", line,
                            [a](Session& session) { return done(node_show(session, a->node)); }),
            a->node);
}

// A verb that makes a work row.
CLI::App* add_work_verb(CLI::App& noun, CommandLine& line, const Arguments& a,
                        const std::string& kind, const std::string& help) {
  CLI::App* verb = add_online_verb(noun, kind, help, line, [a, kind](Session& session) {
    a->work.kind = kind;
    a->work.on = a->on != "off";
    return node_work(session, a->work);
  });
  with_node(verb, a->work.node);
  verb->add_option("--reason", a->work.reason, "Why, for the record")->type_name("TEXT");
  verb->add_flag("--no-wait", a->work.no_wait, "Do not wait for the site's answer");
  verb->add_option("--wait", a->work.wait_s, "How long to wait for it (60)")
      ->check(whole_number(1, 86'400))
      ->type_name("SECONDS");
  return verb;
}

void add_node_work(CLI::App& noun, CommandLine& line, const Arguments& a) {
  const auto with_run = [&](CLI::App* verb) {
    verb->add_flag("--watch", a->work.watch, "Then follow the run to its end");
    return verb;
  };
  const auto with_yes = [&](CLI::App* verb) {
    verb->add_flag("--yes", a->work.yes, "Do not ask: every disk is erased");
  };
  with_yes(with_run(
      add_work_verb(noun, line, a, "release", "End its lease: take it back and erase it")));
  with_yes(with_run(
      add_work_verb(noun, line, a, "recover", "Take a failed machine back again, from the start")));
  with_run(add_work_verb(noun, line, a, "inspect", "Look at a ready machine, in the ramdisk"));
  add_work_verb(noun, line, a, "quarantine", "Take a ready machine out of use");
  add_work_verb(noun, line, a, "maintenance", "Maintenance on or off")
      ->add_option("STATE", a->on, "on or off")
      ->required()
      ->check(one_of({"on", "off"}))
      ->type_name("");
}

void add_node_admin(CLI::App& noun, CommandLine& line, const Arguments& a) {
  with_node(
      add_online_verb(noun, "cordon", "Place nothing new on it", line,
                      [a](Session& session) { return done(node_cordon(session, a->node, true)); }),
      a->node);
  with_node(
      add_online_verb(noun, "uncordon", "It may be placed on again", line,
                      [a](Session& session) { return done(node_cordon(session, a->node, false)); }),
      a->node);
  CLI::App* label = add_online_verb(
      noun, "label", "Set or remove labels", line,
      [a](Session& session) { return done(node_label(session, a->node, a->changes)); });
  with_node(label, a->node);
  label->add_option("LABEL", a->changes, "KEY=VALUE, or KEY- to remove it")
      ->required()
      ->type_name("");
  CLI::App* taint = add_online_verb(
      noun, "taint", "Add or remove taints", line,
      [a](Session& session) { return done(node_taint(session, a->node, a->changes)); });
  with_node(taint, a->node);
  taint->add_option("TAINT", a->changes, "A word, or WORD- to remove it")
      ->required()
      ->type_name("");
  CLI::App* location = add_online_verb(
      noun, "location", "Say where it stands", line,
      [a](Session& session) { return done(node_set_location(session, a->node, a->location)); });
  with_node(location, a->node);
  location->add_option("LOCATION", a->location, "\"row 3, rack 12, unit 7\"; \"\" removes it")
      ->required()
      ->type_name("");
}

}  // namespace

void add_node_command(CLI::App& app, CommandLine& line) {
  CLI::App* noun = add_noun(app, "node", "Machines: look, release, recover, quarantine, ...");
  auto arguments = std::make_shared<NodeArguments>();
  add_node_readers(*noun, line, arguments);
  add_node_work(*noun, line, arguments);
  add_node_admin(*noun, line, arguments);
}

}  // namespace leasehold
