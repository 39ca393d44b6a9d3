#include "simsite/control.h"

#include "simsite/limits.h"

namespace leasehold::simsite {
namespace {

HttpResponse ok(const Json& body) { return json_response(200, dump_json(body)); }

HttpResponse no_such(const std::string& path) {
  return error_response(Error(Code::kNotFound, "nothing at " + path));
}

// "/machines/NAME/faults" -> {"machines", "NAME", "faults"}
std::vector<std::string> segments(const std::string& path) {
  std::vector<std::string> out;
  size_t start = 0;
  while (start < path.size()) {
    size_t end = std::min(path.find('/', start), path.size());
    if (end > start) out.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

HttpResponse list_machines(Site& site) {
  Json machines = Json::array();
  for (const auto& machine : site.machines()) machines.push_back(machine->summary());
  return ok({{"machines", machines}});
}

HttpResponse list_faults(Site& site) {
  Json faults = Json::array();
  for (const auto& machine : site.machines()) {
    for (const FaultRule& rule : machine->faults().all()) {
      Json json = fault_rule_json(rule);
      json["machine"] = machine->name();
      faults.push_back(json);
    }
  }
  return ok({{"faults", faults}});
}

// One rule, or a list of them: all are added or none.
Result<Json> add_faults(Machine& machine, const std::string& body) {
  Json json = TRY(parse_json(body));
  if (!json.is_array()) json = Json::array({json});
  std::vector<FaultRule> rules;
  for (const Json& rule : json) rules.push_back(TRY(parse_fault_rule(rule)));
  FaultRules changed = machine.faults();
  for (FaultRule& rule : rules) TRY(changed.add(std::move(rule)));
  machine.faults() = std::move(changed);
  return Json{{"added", json.size()}};
}

Result<Json> plan_kill(Site& site, const std::string& body) {
  Json json = TRY(parse_json(body));
  TRY(check_keys(json, {"pid", "effect"}, "the kill"));
  int64_t pid = TRY(json_int(json, "pid"));
  int64_t effect = TRY(json_int(json, "effect"));
  TRY(site.effects().plan_kill(pid, effect));
  return Json{{"pid", pid}, {"effect", effect}};
}

HttpResponse answer_of(const Result<Json>& result) {
  return result.ok() ? ok(result.value()) : error_response(result.error());
}

HttpResponse machine_answer(Machine& machine, const std::string& what,
                            const ServerRequest& request) {
  const std::string& method = request.method;
  if (what.empty() && method == "GET") return ok(machine.details());
  if (what == "secrets" && method == "GET") return ok(machine.secrets());
  if (what == "faults" && method == "POST") return answer_of(add_faults(machine, request.body));
  if (what == "faults" && method == "DELETE") {
    machine.faults().clear();
    return ok(Json::object());
  }
  return no_such(request.path);
}

}  // namespace

HttpResponse control_answer(Site& site, const ServerRequest& request) {
  std::vector<std::string> path = segments(request.path);
  bool get = request.method == "GET";
  if (path.size() == 1) {
    if (path[0] == "machines" && get) return list_machines(site);
    if (path[0] == "faults" && get) return list_faults(site);
    if (path[0] == "effects" && get) return ok({{"effects", site.effects().json()}});
    if (path[0] == "kill" && request.method == "POST") {
      return answer_of(plan_kill(site, request.body));
    }
  }
  if (path.size() < 2 || path.size() > 3 || path[0] != "machines") return no_such(request.path);
  Machine* machine = site.find(path[1]);
  if (machine == nullptr) return no_such(request.path);
  return machine_answer(*machine, path.size() == 3 ? path[2] : "", request);
}

Machine* tool_request(Site& site, const ServerRequest& request) {
  std::vector<std::string> path = segments(request.path);
  bool tools =
      request.method == "POST" && path.size() == 3 && path[0] == "machines" && path[2] == "tools";
  return tools ? site.find(path[1]) : nullptr;
}

Result<std::vector<std::string>> parse_tool_request(const ServerRequest& request) {
  Json json = TRY(parse_json(request.body));
  Json list = TRY(json_array(json, "argv"));
  if (list.empty() || list.size() > kToolArguments) {
    return Error(Code::kInvalidInput, "a command line has 1 to 64 words", "argv");
  }
  std::vector<std::string> argv;
  for (const Json& word : list) {
    if (!word.is_string()) return Error(Code::kInvalidInput, "\"argv\" holds strings", "argv");
    argv.push_back(word.get<std::string>());
  }
  return argv;
}

}  // namespace leasehold::simsite
