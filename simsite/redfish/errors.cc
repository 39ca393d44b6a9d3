#include "simsite/redfish/resource.h"

namespace leasehold::simsite {
namespace {

constexpr const char* kRegistry = "Base.1.13.";

}  // namespace

RedfishReply reply_json(int status, const Json& body) {
  RedfishReply reply;
  reply.response.status = status;
  reply.response.headers = {{"Content-Type", "application/json; charset=utf-8"},
                            {"OData-Version", "4.0"},
                            {"Cache-Control", "no-cache"}};
  reply.response.body = dump_json(body);
  return reply;
}

RedfishReply reply_empty(Change change) {
  RedfishReply reply;
  reply.response.status = 204;
  reply.response.headers = {{"OData-Version", "4.0"}};
  reply.change = std::move(change);
  return reply;
}

std::string child_path(const std::string& path, const std::string& id) { return path + "/" + id; }

Json resource(const std::string& path, const std::string& type, const std::string& id,
              const std::string& name) {
  return {{"@odata.id", path}, {"@odata.type", "#" + type}, {"Id", id}, {"Name", name}};
}

Json link(const std::string& path) { return {{"@odata.id", path}}; }

Json status_ok() { return {{"State", "Enabled"}, {"Health", "OK"}}; }

Json collection(const std::string& path, const std::string& type, const std::string& name,
                const std::vector<std::string>& ids) {
  Json members = Json::array();
  for (const std::string& id : ids) members.push_back(link(path + "/" + id));
  return {{"@odata.id", path},
          {"@odata.type", "#" + type + "Collection." + type + "Collection"},
          {"Name", name},
          {"Members", members},
          {"Members@odata.count", ids.size()}};
}

RedfishReply reply_error(int status, const Message& message) {
  Json info = {{"@odata.type", "#Message.v1_1_2.Message"},
               {"MessageId", kRegistry + message.id},
               {"Message", message.text},
               {"MessageArgs", message.args},
               {"MessageSeverity", status >= 500 ? "Critical" : "Warning"},
               {"Resolution", "Correct the request and send it again."}};
  if (!message.property.empty()) info["RelatedProperties"] = {"#/" + message.property};
  return reply_json(status, {{"error",
                              {{"code", kRegistry + message.id},
                               {"message", message.text},
                               {"@Message.ExtendedInfo", Json::array({info})}}}});
}

RedfishReply not_found(const std::string& path) {
  return reply_error(404, {"ResourceMissingAtURI",
                           "The resource at the URI '" + path + "' was not found.",
                           {path},
                           ""});
}

Json change_required_info(const std::string& account_id) {
  std::string path = child_path("/redfish/v1/AccountService/Accounts", account_id);
  return {{"@odata.type", "#Message.v1_1_2.Message"},
          {"MessageId", kRegistry + std::string("PasswordChangeRequired")},
          {"Message",
           "The password provided for this account must be changed before access is "
           "granted. PATCH the Password property for this account located at the "
           "target URI '" +
               path + "' to complete this process."},
          {"MessageArgs", {path}},
          {"MessageSeverity", "Critical"},
          {"Resolution", "Change the password for this account."}};
}

RedfishReply change_required(const std::string& account_id) {
  Json info = change_required_info(account_id);
  return reply_json(403, {{"error",
                           {{"code", info["MessageId"]},
                            {"message", info["Message"]},
                            {"@Message.ExtendedInfo", Json::array({info})}}}});
}

RedfishReply property_missing(const std::string& property) {
  return reply_error(400, {"PropertyMissing",
                           "The property '" + property +
                               "' is a required property and must be included in the request.",
                           {property},
                           property});
}

RedfishReply property_unknown(const std::string& property) {
  return reply_error(400, {"PropertyUnknown",
                           "The property '" + property +
                               "' is not in the list of valid properties for the resource.",
                           {property},
                           property});
}

RedfishReply property_not_writable(const std::string& property) {
  return reply_error(400, {"PropertyNotWritable",
                           "The property '" + property +
                               "' is a read-only property and cannot be assigned a value.",
                           {property},
                           property});
}

RedfishReply property_type(const std::string& property) {
  // The value is left out of the text: it may be a password (quirk P6 is a fault, not the rule).
  return reply_error(400, {"PropertyValueTypeError",
                           "The value for the property '" + property +
                               "' is not a type that the property can accept.",
                           {"", property},
                           property});
}

RedfishReply value_not_in_list(const std::string& property, const std::string& value) {
  return reply_error(400, {"PropertyValueNotInList",
                           "The value '" + value + "' for the property '" + property +
                               "' is not in the list of acceptable values.",
                           {value, property},
                           property});
}

}  // namespace leasehold::simsite
