#include "agent/steps/identify.h"

#include "agent/steps/take_over.h"
#include "agent/workflows/names.h"

namespace leasehold {
namespace {

constexpr int64_t kUnreachableWithinMs = 120'000;

Poll try_again(StepContext& context, const std::string& why) {
  return Poll{why, next_wait_ms(context), kUnreachableWithinMs, Code::kBmcUnreachable};
}

// The port that boots: the only one there is, or the only one with a link. "" if that is not clear.
std::string boot_port(const std::vector<EthernetPort>& ports) {
  if (ports.size() == 1) return ports.front().mac;
  std::string linked;
  for (const EthernetPort& port : ports) {
    if (!port.link_up) continue;
    if (!linked.empty()) return "";
    linked = port.mac;
  }
  return linked;
}

// What the BMC says goes into the row, whose transaction looks for it among the other nodes.
void learn(NodeRow& node, const SystemFacts& facts) {
  Json macs = Json::array();
  for (const EthernetPort& port : facts.ports) macs.push_back(port.mac);
  node.claims =
      Json{{"serial", facts.serial}, {"sku", facts.sku}, {"uuid", facts.uuid}, {"macs", macs}};
  if (node.boot_mac.empty()) node.boot_mac = boot_port(facts.ports);
}

Result<SystemFacts> read_facts(const Tools& tools, const StepContext& context) {
  std::unique_ptr<Bmc> bmc = TRY(open_bmc(tools, context));
  return bmc->system_facts();
}

std::string reason_of(const Json& greeting) {
  std::string version = json_text(greeting, "redfishVersion");
  std::string maker = json_text(greeting, "vendor") + " " + json_text(greeting, "product");
  return "its ServiceRoot says Redfish " + (version.empty() ? "(no version)" : version) +
         (maker == " " ? "" : " (" + maker + ")") + " and its ComputerSystem can be read";
}

}  // namespace

StepOutcome greet_bmc(const Tools& tools, StepContext& context) {
  Result<NodeRow> loaded = node_of(context);
  if (!loaded.ok()) return loaded.error();
  NodeRow& node = loaded.value();
  Result<BmcGreeting> greeting = tools.bmcs->greet(address_of(node));
  if (!greeting.ok()) {
    if (is_passing(greeting.error())) return try_again(context, greeting.error().message);
    return Error(
        Code::kBmcUnreachable,
        "what answers there is not this BMC, or no Redfish service: " + greeting.error().message);
  }
  Done done;
  done.output = Json{{"redfishVersion", greeting.value().redfish_version},
                     {"vendor", greeting.value().vendor},
                     {"product", greeting.value().product}};
  if (node.bmc_tls_pin.empty()) {
    STEP_CHECK(!greeting.value().tls_pin.empty(), "a BMC that answered over TLS has a certificate");
    node.bmc_tls_pin = greeting.value().tls_pin;
    node.bmc_tls_pin_from = "first-use";
    done.rows = {node.change(),
                 event_of(tools, context, "node.bmc-pinned",
                          Json{{"tlsPin", node.bmc_tls_pin}, {"from", node.bmc_tls_pin_from}})};
  }
  done.output["tlsPinFrom"] = node.bmc_tls_pin_from;
  return done;
}

StepOutcome look_at_machine(const Tools& tools, StepContext& context) {
  Result<NodeRow> node = node_of(context);
  if (!node.ok()) return node.error();
  if (has_own_credential(node.value())) return nothing_to_take_over();
  Result<SystemFacts> facts = read_facts(tools, context);
  if (facts.ok()) {
    learn(node.value(), facts.value());
    return Done{Json{{"credential", "works"}}, {node.value().change()}, {}};
  }
  // A1: before its password is changed the BMC shows nothing; that it says so shows a good login.
  if (facts.error().code == Code::kRefused) {
    return Done{Json{{"credential", "must be changed first: " + facts.error().message}}, {}, {}};
  }
  if (is_passing(facts.error())) return try_again(context, facts.error().message);
  return facts.error();
}

StepOutcome probe_driver(const Tools& tools, StepContext& context) {
  Result<NodeRow> node = node_of(context);
  if (!node.ok()) return node.error();
  Result<HardwareProfile> profile = profile_of(context);
  if (!profile.ok()) return profile.error();
  Result<SystemFacts> facts = read_facts(tools, context);
  if (!facts.ok()) {
    if (is_passing(facts.error())) return try_again(context, facts.error().message);
    if (facts.error().code == Code::kCredentialRefused) return facts.error();
    return Error(Code::kHardwareMismatch, "driver " + profile.value().driver +
                                              " cannot drive this BMC: " + facts.error().message);
  }
  learn(node.value(), facts.value());
  if (node.value().boot_mac.empty()) {
    return Error(Code::kHardwareMismatch,
                 "the BMC shows " + std::to_string(facts.value().ports.size()) +
                     " Ethernet ports, and not which one boots: give it with --boot-mac");
  }
  node.value().driver = profile.value().driver;
  node.value().driver_reason = reason_of(context.output(kGreetPlace));
  Json output = {{"driver", node.value().driver},
                 {"reason", node.value().driver_reason},
                 {"bootMac", node.value().boot_mac}};
  return Done{std::move(output), {node.value().change()}, {}};
}

}  // namespace leasehold
