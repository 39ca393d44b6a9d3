#include <CLI/CLI.hpp>
#include <memory>

#include "coordinator/cli/command.h"
#include "coordinator/cli/pools.h"

namespace leasehold {
namespace {

void add_pool_create(CLI::App& noun, CommandLine& line) {
  auto options = std::make_shared<PoolCreateOptions>();
  CLI::App* verb =
      add_online_verb(noun, "create", "Make a pool of one site's machines", line,
                      [options](Session& session) { return done(pool_create(session, *options)); });
  verb->add_option("POOL", options->pool, "Its id")->required()->type_name("");
  verb->add_option("--site", options->site, "The site of its machines")
      ->required()
      ->type_name("SITE");
  verb->add_option("--policy", options->policy_file, "JSON, see docs/cli.md")
      ->required()
      ->type_name("FILE");
  verb->add_option("--agent", options->agent, "ramdisk (usual) or none: without an\nattested wipe")
      ->check(one_of({"ramdisk", "none"}))
      ->type_name("AGENT");
  verb->add_option("--tenant", options->tenant, "Its owner (usually root)")->type_name("TENANT");
  verb->add_option("--class", options->pool_class, "Usually metal-dedicated")->type_name("CLASS");
  verb->add_flag("--allow-unvetted", options->allow_unvetted,
                 "Also machines whose hardware profile\nnobody has vetted");
}

void add_pool_policy(CLI::App& noun, CommandLine& line,
                     const std::shared_ptr<PoolCreateOptions>& o) {
  CLI::App* policy = add_noun(noun, "policy", "What a pool asks of a lease and its teardown");
  CLI::App* set = add_online_verb(
      *policy, "set", "Replace the policy: its next revision", line, [o](Session& session) {
        return done(pool_set_policy(session, o->pool, o->policy_file, o->allow_unvetted));
      });
  set->add_option("POOL", o->pool, "Its id")->required()->type_name("");
  set->add_option("--policy", o->policy_file, "JSON, see docs/cli.md")
      ->required()
      ->type_name("FILE");
  set->add_flag("--allow-unvetted", o->allow_unvetted,
                "Also machines whose hardware profile\nnobody has vetted");
}

}  // namespace

void add_hardware_profile_command(CLI::App& app, CommandLine& line) {
  CLI::App* noun = add_noun(app, "hardware-profile", "How a kind of machine is driven");
  auto name = std::make_shared<std::string>();
  add_online_verb(*noun, "list", "All profiles, newest revisions", line,
                  [](Session& session) { return done(hardware_profile_list(session)); });
  add_online_verb(*noun, "show", "One profile, as it can be imported", line,
                  [name](Session& session) { return done(hardware_profile_show(session, *name)); })
      ->add_option("PROFILE", *name, "Its id")
      ->required()
      ->type_name("");
  add_online_verb(
      *noun, "import", "Add a profile, or its next revision", line,
      [name](Session& session) { return done(hardware_profile_import(session, *name)); })
      ->add_option("FILE", *name, "JSON, see docs/cli.md")
      ->required()
      ->type_name("");
}

void add_pool_command(CLI::App& app, CommandLine& line) {
  CLI::App* noun = add_noun(app, "pool", "Pools of machines and their policies");
  auto options = std::make_shared<PoolCreateOptions>();
  add_online_verb(*noun, "list", "All pools", line,
                  [options](Session& session) { return done(pool_list(session, options->site)); })
      ->add_option("--site", options->site, "Only this site's")
      ->type_name("SITE");
  add_online_verb(*noun, "show", "One pool with its policy", line,
                  [options](Session& session) { return done(pool_show(session, options->pool)); })
      ->add_option("POOL", options->pool, "Its id")
      ->required()
      ->type_name("");
  add_pool_create(*noun, line);
  add_pool_policy(*noun, line, options);
}

}  // namespace leasehold
