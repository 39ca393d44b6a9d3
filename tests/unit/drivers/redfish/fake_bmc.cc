#include "tests/unit/drivers/redfish/fake_bmc.h"

namespace leasehold {
namespace {

const std::string kOrigin = "https://bmc.test";

std::string path_of_url(const std::string& url) {
  return url.starts_with(kOrigin) ? url.substr(kOrigin.size()) : url;
}

std::string form_of(const HttpRequest& request) {
  return request.method + " " + path_of_url(request.url);
}

HttpResponse response(int status, const std::string& body = "", HttpHeaders headers = {}) {
  return HttpResponse{status, std::move(headers), body};
}

Json collection(const std::vector<std::string>& paths) {
  Json members = Json::array();
  for (const std::string& path : paths) members.push_back({{"@odata.id", path}});
  return {{"Members", members}, {"Members@odata.count", paths.size()}};
}

Json firmware(const std::string& id, const std::string& version) {
  return {{"Id", id},
          {"Name", id + " firmware"},
          {"Version", version},
          {"Status", {{"State", "Enabled"}}}};
}

}  // namespace

FakeBmc::FakeBmc() {
  passwords["root"] = "old-Secret.1";
  resources["/redfish/v1/"] = {{"Systems", {{"@odata.id", "/redfish/v1/Systems"}}},
                               {"AccountService", {{"@odata.id", "/redfish/v1/AccountService"}}},
                               {"UpdateService", {{"@odata.id", "/redfish/v1/UpdateService"}}},
                               {"Links", {{"Sessions", {{"@odata.id", kSessions}}}}}};
  resources["/redfish/v1/Systems"] = collection({kSystem});
  resources[kSystem] = {
      {"Id", "1"},
      {"PowerState", "On"},
      {"Actions",
       {{"#ComputerSystem.Reset",
         {{"target", kReset}, {"ResetType@Redfish.AllowableValues", {"On", "ForceOff"}}}}}},
      {"Boot",
       {{"BootSourceOverrideTarget", "None"},
        {"BootSourceOverrideEnabled", "Disabled"},
        {"BootSourceOverrideMode", "UEFI"}}}};
  resources["/redfish/v1/AccountService"] = {
      {"Accounts", {{"@odata.id", "/redfish/v1/AccountService/Accounts"}}}};
  resources["/redfish/v1/AccountService/Accounts"] =
      collection({"/redfish/v1/AccountService/Accounts/1", kAccount});
  resources["/redfish/v1/AccountService/Accounts/1"] = {
      {"Id", "1"}, {"UserName", ""}, {"Enabled", false}};
  resources[kAccount] = {
      {"Id", "2"}, {"UserName", "root"}, {"RoleId", "Administrator"}, {"Enabled", true}};
  resources["/redfish/v1/UpdateService"] = {{"FirmwareInventory", {{"@odata.id", kInventory}}}};
  resources[kInventory] = collection({kInventory + "/BMC", kInventory + "/BIOS"});
  resources[kInventory + "/BMC"] = firmware("BMC", "1.12.0");
  resources[kInventory + "/BIOS"] = firmware("BIOS", "2.4.1");
}

std::unique_ptr<RedfishBmc> FakeBmc::open(const std::string& password) {
  return std::make_unique<RedfishBmc>(*this, clock, BmcAddress{kOrigin, ""},
                                      BmcCredential{"root", password}, TlsClientPolicy{});
}

void FakeBmc::next(const std::string& form, Answer answer) {
  answers_[form].push_back(std::move(answer));
}

void FakeBmc::next(const std::string& form, int status, const std::string& body,
                   HttpHeaders headers) {
  next(form, [=](const HttpRequest&) { return response(status, body, headers); });
}

int FakeBmc::count(const std::string& form) const {
  int found = 0;
  for (const HttpRequest& request : requests) {
    if (form_of(request) == form || request.method == form) ++found;
  }
  return found;
}

std::vector<std::string> FakeBmc::forms() const {
  std::vector<std::string> all;
  for (const HttpRequest& request : requests) all.push_back(form_of(request));
  return all;
}

const HttpRequest& FakeBmc::last(const std::string& form) const {
  static const HttpRequest kNone;
  for (auto it = requests.rbegin(); it != requests.rend(); ++it) {
    if (form_of(*it) == form) return *it;
  }
  return kNone;
}

Result<HttpResponse> FakeBmc::send(const HttpRequest& request, const HttpOptions& options) {
  requests.push_back(request);
  options_seen.push_back(options);
  auto waiting = answers_.find(form_of(request));
  if (waiting == answers_.end() || waiting->second.empty()) return act(request);
  Answer answer = std::move(waiting->second.front());
  waiting->second.pop_front();
  return answer(request);
}

Result<HttpResponse> FakeBmc::act(const HttpRequest& request) {
  std::string path = path_of_url(request.url);
  if (form_of(request) == "POST " + kSessions) return log_in(request);
  bool open_to_all = path == "/redfish/v1/";
  std::string token = header_value(request.headers, "X-Auth-Token");
  if (!open_to_all && sessions.count(token) == 0) return response(401);
  if (request.method == "DELETE") {
    for (auto it = sessions.begin(); it != sessions.end(); ++it) {
      if (it->second != path) continue;
      sessions.erase(it);
      return response(204);
    }
    return response(404);
  }
  if (form_of(request) == "POST " + kReset) {
    std::string type = json_text(parse_json(request.body).value(), "ResetType");
    resources[kSystem]["PowerState"] = type == "ForceOff" ? "Off" : "On";
    return response(204);
  }
  if (path == kSessions) {
    std::vector<std::string> paths;
    for (const auto& [each, session] : sessions) paths.push_back(session);
    return response(200, dump_json(collection(paths)));
  }
  if (resources.count(path) == 0) return response(404, "<html>not here</html>");
  if (request.method == "PATCH") return patch(path, request);
  HttpHeaders headers;
  if (etags.count(path) != 0) headers.emplace_back("ETag", etags[path]);
  return response(200, dump_json(resources[path]), headers);
}

Result<HttpResponse> FakeBmc::log_in(const HttpRequest& request) {
  if (!header_value(request.headers, "Authorization").empty()) return response(415);
  Json body = parse_json(request.body).value();
  auto known = passwords.find(json_text(body, "UserName"));
  if (known == passwords.end() || known->second != json_text(body, "Password")) {
    return response(401, error_body("Base.1.8.ResourceAtUriUnauthorized"));
  }
  std::string number = std::to_string(++tokens_);
  std::string path = kSessions + "/" + number;
  sessions["token-" + number] = path;
  resources[path] = {{"@odata.id", path}, {"Id", number}, {"UserName", known->first}};
  return response(201, dump_json(resources[path]),
                  {{"X-Auth-Token", "token-" + number}, {"Location", path}});
}

Result<HttpResponse> FakeBmc::patch(const std::string& path, const HttpRequest& request) {
  if (accepts_tag && !accepts_tag(request)) return response(refused_tag_status);
  Json body = parse_json(request.body).value();
  if (body.contains("Password")) {
    passwords[json_text(resources[path], "UserName")] = json_text(body, "Password");
  } else {
    resources[path].merge_patch(body);
  }
  return response(200);
}

std::string error_body(const std::string& id, const std::string& argument,
                       const std::string& text) {
  Json message = {{"MessageId", id}, {"Message", text}};
  if (!argument.empty()) message["MessageArgs"] = {argument};
  Json error = {{"code", "Base.1.8.GeneralError"},
                {"@Message.ExtendedInfo", Json::array({message})}};
  return dump_json({{"error", error}});
}

}  // namespace leasehold
