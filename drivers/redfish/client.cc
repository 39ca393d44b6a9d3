#include "drivers/redfish/client.h"

#include <algorithm>

namespace leasehold::redfish {

Result<Reply> Client::get_any(const std::string& path) {
  for (int login = 1;; ++login) {
    TRY(session_.ensure());
    Reply reply = TRY(transport_.get(path, {{"X-Auth-Token", session_.token()}}));
    if (reply.status != 401) return reply;
    session_.drop_token();
    Call call;
    call.path = path;
    if (login == 2) return transport_.error(call, reply);
  }
}

Result<Reply> Client::get(const std::string& path) {
  Reply reply = TRY(get_any(path));
  if (reply.good()) return reply;
  Call call;
  call.path = path;
  return transport_.error(call, reply);
}

Getter Client::getter() {
  return [this](const std::string& path) { return get(path); };
}

Result<Reply> Client::send_effect(Call call) {
  TRY(session_.ensure());
  call.headers.emplace_back("X-Auth-Token", session_.token());
  Reply reply = TRY(transport_.send_once(call));
  if (reply.status == 401) session_.drop_token();
  return reply;
}

Result<Reply> Client::patch(const std::string& path, const Json& body) {
  Reply current = TRY(get(path));
  return patch(path, body, current);
}

Result<Reply> Client::patch(const std::string& path, const Json& body, const Reply& current) {
  auto ladder = if_match_ladder(current.etag, json_text(current.body, "@odata.etag"));
  std::string folder = path.substr(0, path.rfind('/'));
  auto known = winning_form_.find(folder);
  if (known != winning_form_.end()) {
    std::stable_partition(ladder.begin(), ladder.end(),
                          [&](const IfMatchRung& rung) { return rung.form == known->second; });
  }
  if (ladder.size() > limits::kBmcPatchSends) ladder.resize(limits::kBmcPatchSends);
  Call call;
  call.method = "PATCH";
  call.path = path;
  call.body = body;
  Reply reply;
  bool demanded = false;  // after a 428 there is no point in sending none
  for (const IfMatchRung& rung : ladder) {
    bool none = rung.form == IfMatchForm::kNone;
    if (none && demanded) continue;
    call.headers.clear();
    if (!none) call.headers.emplace_back("If-Match", rung.value);
    reply = TRY(send_effect(call));
    if (reply.status == 428) demanded = true;
    if (reply.status == 412 || reply.status == 428) continue;
    if (reply.good()) winning_form_.insert_or_assign(folder, rung.form);
    return reply;
  }
  return reply;
}

Result<Reply> Client::post(const std::string& path, const Json& body) {
  Call call;
  call.method = "POST";
  call.path = path;
  call.body = body;
  return send_effect(std::move(call));
}

Result<Reply> Client::remove(const std::string& path) {
  Call call;
  call.method = "DELETE";
  call.path = path;
  return send_effect(std::move(call));
}

}  // namespace leasehold::redfish
