#include "drivers/redfish/service_root.h"

namespace leasehold::redfish {
namespace {

constexpr const char* kPath = "/redfish/v1/";

}  // namespace

Status ServiceRoot::read() {
  if (root_.has_value()) return {};
  Reply reply = TRY(transport_.get(kPath, {}));
  if (reply.status == 404 || (reply.status >= 300 && reply.status < 400)) {
    reply = TRY(transport_.get("/redfish/v1", {}));
  }
  if (!reply.good() && reply.status != 401 && reply.status != 403) {
    Call call;
    call.path = kPath;
    return transport_.error(call, reply);
  }
  // The standard asks for a root without credentials; where it is closed, its paths are guessed.
  root_ = reply.good() ? std::move(reply.body) : Json::object();
  return {};
}

Result<Json> ServiceRoot::document() {
  TRY(read());
  return *root_;
}

Result<std::string> ServiceRoot::link(const char* name, const char* otherwise) {
  TRY(read());
  std::string path = link_of(json_member(*root_, name));
  return path.empty() ? std::string(otherwise) : path;
}

Result<std::string> ServiceRoot::sessions() {
  TRY(read());
  std::string path = link_of(json_member(json_member(*root_, "Links"), "Sessions"));
  return path.empty() ? std::string("/redfish/v1/SessionService/Sessions") : path;
}

Result<std::string> ServiceRoot::systems() { return link("Systems", "/redfish/v1/Systems"); }

Result<std::string> ServiceRoot::account_service() {
  return link("AccountService", "/redfish/v1/AccountService");
}

Result<std::string> ServiceRoot::update_service() {
  return link("UpdateService", "/redfish/v1/UpdateService");
}

}  // namespace leasehold::redfish
