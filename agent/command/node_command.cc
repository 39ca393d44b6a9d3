#include <iostream>

#include "agent/command/command.h"
#include "agent/command/site_client.h"
#include "agent/command/table.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/harmless.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

// The password comes from its own file, so that the adoption file holds no secret.
Result<Json> read_adoption(const std::string& path) {
  Json adoption = TRY(read_json_file(path, limits::kConfigBytes));
  Json bmc = TRY_WITH(json_object(adoption, "bmc"), path);
  std::string password_file = TRY_WITH(json_string(bmc, "passwordFile"), path + ": bmc");
  std::string password = TRY(read_secret_file(password_file, 256));
  bmc.erase("passwordFile");
  bmc["password"] = password;
  adoption["bmc"] = std::move(bmc);
  return adoption;
}

Result<std::string> adopt(SiteClient& client, const std::string& path) {
  Json node = TRY(client.post("/v1/nodes", TRY(read_adoption(path))));
  return "adopted " + json_text(node, "node") + ": " + json_text(node, "state") + ", " +
         json_text(node, "trust") + ", lease " + json_text(node, "lease") + "\n";
}

// A work row about the node as it is now; the agent refuses it if that changes before it arrives.
Result<std::string> work(SiteClient& client, const std::string& node_id, const std::string& kind,
                         bool on) {
  Json node = TRY(client.get("/v1/nodes/" + node_id));
  SystemRandom random;
  Json row = {
      {"table", "work"}, {"schema", 1},  {"work", random_id(random, "w")},
      {"node", node_id}, {"kind", kind}, {"expects", {{"state", json_text(node, "state")}}}};
  if (kind == "maintenance") row["on"] = on;
  if (kind == "release") row["expects"]["lease"] = json_text(node, "lease");
  if (kind == "recover") {
    row["expects"]["run"] = json_text(json_member(node, "failure"), "run");
  }
  Json answer = TRY(client.post("/v1/rows", Json{{"rows", {row}}}));
  const Json& results = json_member(answer, "work_results");
  if (!results.is_array() || results.size() != 1) {
    return Error(Code::kMalformed, "the agent answered without a work_result");
  }
  if (!flag_of(results[0], "accepted")) {
    Code code = code_from_name(json_text(results[0], "code")).value_or(Code::kRefused);
    return Error(code, json_text(results[0], "message"));
  }
  std::string run = json_text(results[0], "run");
  std::string out = kind + " of " + node_id + " accepted";
  return out + (run.empty() ? "\n" : ": run " + run + "\n");
}

Result<std::string> show(SiteClient& client, const std::string& node) {
  Json row = TRY(client.get("/v1/nodes/" + node));
  return harmless_json(dump_json_pretty(row)) + "\n";
}

struct NodeArguments {
  std::string file;
  std::string node;
  std::string on;
};

void verb(CLI::App* command, CommandSettings& settings,
          std::function<Result<std::string>(SiteClient&)> body) {
  command->callback([&settings, body = std::move(body)] {
    SiteClient client(settings.socket_path);
    Result<std::string> text = body(client);
    if (!text.ok()) {
      settings.exit_code = print_error(text.error());
      return;
    }
    std::cout << harmless_lines(text.value());
  });
}

}  // namespace

void add_node_command(CLI::App& app, CommandSettings& settings) {
  auto arguments = std::make_shared<NodeArguments>();
  CLI::App* node = app.add_subcommand("node", "The machines of this site");
  node->require_subcommand(1);

  CLI::App* adopt_verb = node->add_subcommand(
      "adopt", "Take over a machine that somebody has had: it can only be torn down");
  adopt_verb->add_option("FILE", arguments->file, "Adoption file (docs/adopt.md)")->required();
  verb(adopt_verb, settings,
       [arguments](SiteClient& client) { return adopt(client, arguments->file); });

  CLI::App* show_verb = node->add_subcommand("show", "One node's row, as JSON");
  show_verb->add_option("NODE", arguments->node)->required();
  verb(show_verb, settings,
       [arguments](SiteClient& client) { return show(client, arguments->node); });

  const std::pair<const char*, const char*> kinds[] = {
      {"release", "End the lease: tear the machine down"},
      {"recover", "Run the teardown or the enrolment of a failed machine again"},
      {"inspect", "Boot a ready machine and compare it with its manifest"},
      {"quarantine", "Take a ready machine out of use"}};
  for (auto [kind, help] : kinds) {
    CLI::App* work_verb = node->add_subcommand(kind, help);
    work_verb->add_option("NODE", arguments->node)->required();
    verb(work_verb, settings, [arguments, kind](SiteClient& client) {
      return work(client, arguments->node, kind, true);
    });
  }
  CLI::App* maintenance = node->add_subcommand("maintenance", "Maintenance on or off");
  maintenance->add_option("NODE", arguments->node)->required();
  maintenance->add_option("STATE", arguments->on)->required()->check(CLI::IsMember({"on", "off"}));
  verb(maintenance, settings, [arguments](SiteClient& client) {
    return work(client, arguments->node, "maintenance", arguments->on == "on");
  });
}

}  // namespace leasehold
