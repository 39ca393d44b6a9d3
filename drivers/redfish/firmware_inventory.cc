#include "drivers/redfish/firmware_inventory.h"

namespace leasehold::redfish {

FirmwareItem parse_firmware_item(const Json& body, const std::string& uri) {
  FirmwareItem item;
  item.id = json_text(body, "Id");
  if (item.id.empty()) item.id = uri.substr(uri.rfind('/') + 1);
  item.name = json_text(body, "Name");
  const Json& version = json_member(body, "Version");
  if (version.is_string()) item.version = version.get<std::string>();
  // A whole number can be written down; 1.10 as a number has already lost its last digit (P8).
  if (version.is_number_integer()) item.version = dump_json(version);
  std::string state = json_text(json_member(body, "Status"), "State");
  item.enabled = state.empty() || state == "Enabled";
  return item;
}

Result<FirmwareInventory> read_firmware_inventory(Client& client, ServiceRoot& root) {
  std::string service = TRY(root.update_service());
  Reply reply = TRY(client.get_any(service));
  if (reply.status == 404) return Error(Code::kUnsupported, "the BMC has no UpdateService");
  std::string path = link_of(json_member(reply.body, "FirmwareInventory"));
  if (path.empty()) path = service + "/FirmwareInventory";
  Collection members = TRY(read_collection(client.getter(), path));
  FirmwareInventory inventory;
  inventory.complete = members.complete;
  for (const Json& member : members.members) {
    std::string uri = link_of(member);
    auto read = read_member(client.getter(), member);
    bool sound = read.ok() && first_failure(read.value().messages) == nullptr;
    FirmwareItem item = parse_firmware_item(read.ok() ? read.value().body : Json(), uri);
    if (!sound) {
      item.version.clear();
      inventory.complete = false;
    }
    inventory.items.push_back(std::move(item));
  }
  return inventory;
}

}  // namespace leasehold::redfish
