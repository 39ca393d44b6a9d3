// The table of the API: which request reaches which handler, and who may send it. A family of
// requests is one .cc beside it. Values only, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/api/call.h"

namespace leasehold {

using Handler = Result<Reply> (*)(const CentreContext&, Sql&, Call&);

enum class MayCall { kAnyone, kCertified, kOperator, kSite };

struct Route {
  std::string_view method;
  std::string_view pattern;  // "/v1/sites/*/token"; a star is one part
  MayCall who;
  std::string_view query;  // the parameters that it takes, between blanks
  Handler handler;
  bool takes_rows = false;  // the body goes to core/sync as it came
};

std::vector<Route> all_routes();
std::vector<Route> status_routes();
std::vector<Route> site_routes();
std::vector<Route> enrol_routes();
std::vector<Route> profile_routes();
std::vector<Route> pool_routes();
std::vector<Route> record_routes();
std::vector<Route> node_routes();
std::vector<Route> work_routes();
std::vector<Route> run_routes();
std::vector<Route> evidence_routes();
std::vector<Route> sync_routes();

// The route of a request, with what its stars stand for; null: there is none.
const Route* find_route(const std::vector<Route>& routes, const std::string& method,
                        const std::string& path, std::vector<std::string>& args);
// INVALID_INPUT naming a parameter that the route does not take.
Status check_query(const Route& route, const std::string& query);

}  // namespace leasehold
