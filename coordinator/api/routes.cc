#include "coordinator/api/routes.h"

#include <algorithm>

namespace leasehold {
namespace {

// The part of `text` up to the next slash, which is taken away.
std::string_view take_part(std::string_view& text) {
  size_t end = std::min(text.find('/', 1), text.size());
  std::string_view part = text.substr(0, end);
  text.remove_prefix(end);
  return part;
}

bool matches(std::string_view pattern, std::string_view path, std::vector<std::string>& args) {
  args.clear();
  while (!pattern.empty() && !path.empty()) {
    std::string_view wanted = take_part(pattern);
    std::string_view found = take_part(path);
    if (wanted == "/*" && found.size() > 1) {
      args.emplace_back(found.substr(1));
    } else if (wanted != found) {
      return false;
    }
  }
  return pattern.empty() && path.empty();
}

}  // namespace

std::vector<Route> all_routes() {
  std::vector<Route> routes;
  for (auto part :
       {status_routes, site_routes, enrol_routes, profile_routes, pool_routes, record_routes,
        node_routes, work_routes, run_routes, evidence_routes, sync_routes}) {
    for (const Route& route : part()) routes.push_back(route);
  }
  return routes;
}

const Route* find_route(const std::vector<Route>& routes, const std::string& method,
                        const std::string& path, std::vector<std::string>& args) {
  const std::string_view wanted = method == "HEAD" ? "GET" : std::string_view(method);
  for (const Route& route : routes) {
    if (route.method == wanted && matches(route.pattern, path, args)) return &route;
  }
  return nullptr;
}

Status check_query(const Route& route, const std::string& query) {
  std::string_view rest = query;
  while (!rest.empty()) {
    std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    std::string name(pair.substr(0, pair.find('=')));
    if (pair.empty()) continue;
    const std::string known = " " + std::string(route.query) + " ";
    if (known.find(" " + name + " ") != std::string::npos) continue;
    std::string takes = route.query.empty() ? "none" : std::string(route.query);
    return Error(Code::kInvalidInput,
                 "there is no parameter \"" + name.substr(0, 64) + "\" here; it takes: " + takes,
                 name.substr(0, 64));
  }
  return {};
}

}  // namespace leasehold
