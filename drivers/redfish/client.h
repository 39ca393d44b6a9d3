// Authenticated calls on one BMC: GET, PATCH with the If-Match ladder, POST of an action, DELETE.
// Owned by one RedfishBmc, used on its step's thread, blocks. A GET that meets a dead token logs in
// once more and is replayed once (T5); nothing with an effect is ever replayed, except a PATCH that
// the BMC refused for its If-Match (412, 428: nothing was applied).
#pragma once

#include <map>
#include <string>

#include "drivers/redfish/collection.h"
#include "drivers/redfish/etag.h"
#include "drivers/redfish/session.h"
#include "drivers/redfish/transport.h"

namespace leasehold::redfish {

class Client {
 public:
  Client(Transport& transport, Session& session) : transport_(transport), session_(session) {}

  // Any status but 401 is a Reply.
  Result<Reply> get_any(const std::string& path);
  // An Error unless the status is good.
  Result<Reply> get(const std::string& path);
  Getter getter();

  // Reads `path` for its tag, then PATCHes. Any status is a Reply; 401 too.
  Result<Reply> patch(const std::string& path, const Json& body);
  // The same with the tags of `current`, a GET of `path` that the caller has just made.
  Result<Reply> patch(const std::string& path, const Json& body, const Reply& current);
  Result<Reply> post(const std::string& path, const Json& body);  // never with If-Match (E6)
  Result<Reply> remove(const std::string& path);

  Transport& transport() { return transport_; }
  Session& session() { return session_; }

 private:
  Result<Reply> send_effect(Call call);

  Transport& transport_;
  Session& session_;
  // What the BMC took last, by the folder of the URI: it will take that form again.
  std::map<std::string, IfMatchForm> winning_form_;
};

}  // namespace leasehold::redfish
