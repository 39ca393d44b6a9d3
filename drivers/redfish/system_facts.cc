#include "drivers/redfish/system_facts.h"

#include <algorithm>
#include <cctype>

namespace leasehold::redfish {
namespace {

std::string trimmed_text(const Json& body, const char* key) {
  std::string text = json_text(body, key);
  size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The spelling differs from one BMC to the next, and the permanent address comes first: the other
// one may be an administrator's (P10).
std::string mac_of(const Json& port) {
  for (const char* key : {"PermanentMACAddress", "MACAddress", "MacAddress"}) {
    std::string mac = normal_mac(trimmed_text(port, key));
    if (!mac.empty()) return mac;
  }
  return "";
}

Result<std::vector<EthernetPort>> read_ports(Client& client, const std::string& path) {
  std::vector<EthernetPort> ports;
  if (path.empty()) return ports;
  Collection found = TRY(read_collection(client.getter(), path));
  if (!found.complete) return Error(Code::kUnavailable, "EthernetInterfaces: " + found.why);
  for (const Json& member : found.members) {
    Reply reply = TRY(read_member(client.getter(), member));
    EthernetPort port{mac_of(reply.body), json_text(reply.body, "LinkStatus") == "LinkUp"};
    const Json& enabled = json_member(reply.body, "InterfaceEnabled");
    bool off = enabled.is_boolean() && !enabled.get<bool>();
    if (!port.mac.empty() && !off) ports.push_back(std::move(port));
  }
  return ports;
}

}  // namespace

std::string normal_mac(const std::string& text) {
  if (text.size() != 17) return "";
  std::string mac = text;
  for (size_t i = 0; i < mac.size(); ++i) {
    auto c = static_cast<unsigned char>(mac[i]);
    if (i % 3 == 2 ? c != ':' && c != '-' : std::isxdigit(c) == 0) return "";
    mac[i] = i % 3 == 2 ? ':' : static_cast<char>(std::tolower(c));
  }
  bool group = (std::stoi(mac.substr(0, 2), nullptr, 16) & 1) != 0;  // or broadcast
  return group || mac == "00:00:00:00:00:00" ? "" : mac;
}

Result<SystemFacts> read_system_facts(Client& client, System& system) {
  Reply reply = TRY(system.read());
  SystemFacts facts;
  facts.manufacturer = trimmed_text(reply.body, "Manufacturer");
  facts.model = trimmed_text(reply.body, "Model");
  facts.serial = trimmed_text(reply.body, "SerialNumber");
  facts.sku = trimmed_text(reply.body, "SKU");
  facts.uuid = trimmed_text(reply.body, "UUID");
  facts.ports = TRY(read_ports(client, link_of(json_member(reply.body, "EthernetInterfaces"))));
  return facts;
}

}  // namespace leasehold::redfish
