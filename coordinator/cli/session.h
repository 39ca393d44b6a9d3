// A command that talks to the coordinator: its console, its client, and what several nouns do alike
// (find a thing of a site by its short name, wait through a restart of the coordinator).
#pragma once

#include <string>

#include "coordinator/cli/api_client.h"
#include "coordinator/cli/console.h"

namespace leasehold {

struct Session {
  const Console& console;
  ApiClient& api;
};

// INVALID_INPUT naming `field` unless `text` is an id.
Status check_id(const std::string& text, const std::string& field);

// Things of a site: "nodes", "runs". `name` is SITE/ID, or ID alone if only one site has it. The
// answer of GET /v1/<kind>/SITE/ID. NOT_FOUND and INVALID_INPUT (ambiguous: which there are) say
// so.
Result<Json> find_in_sites(Session& session, const std::string& kind, const std::string& name);
// "/v1/<kind>/SITE/ID" of such an answer.
std::string path_of(const std::string& kind, const Json& row, const std::string& id_key);
// A JSON object from a file that the command line names. INVALID_INPUT naming `field`.
Result<Json> read_named_json(const std::string& path, const std::string& field);
// "s1/n1"
std::string place_name(const Json& row, const std::string& id_key = "node");

// For a command that the coordinator has answered before: asks again and again while it is away,
// says once that it waits, and once that it goes on. Any other error is returned at once.
class PatientClient {
 public:
  explicit PatientClient(Session& session) : session_(session) {}
  // `deadline_ms` of the clock's monotonic time: until when it is patient; 0: for ever.
  Result<Json> get(const std::string& path, int64_t wait_s = 0, int64_t deadline_ms = 0);

 private:
  Session& session_;
  bool away_ = false;
};

}  // namespace leasehold
