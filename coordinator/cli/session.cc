#include "coordinator/cli/session.h"

#include "core/base/files.h"
#include "core/base/ids.h"

namespace leasehold {
namespace {

constexpr int64_t kAgainMs = 500;

std::string singular(const std::string& kind) { return kind.substr(0, kind.size() - 1); }

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

Error not_found(const std::string& kind, const std::string& name) {
  const std::string noun = singular(kind);
  return Error(Code::kNotFound,
               "there is no " + noun + " \"" + name + "\"; see: leasehold " + noun + " list");
}

Result<Json> look(Session& session, const std::string& kind, const std::string& site,
                  const std::string& id) {
  return session.api.get("/v1/" + kind + "/" + url_part(site) + "/" + url_part(id));
}

}  // namespace

Status check_id(const std::string& text, const std::string& field) {
  if (is_valid_id(text)) return {};
  return Error(Code::kInvalidInput,
               "\"" + text + "\" is no id: 1 to 63 of a-z, 0-9 and '-', a letter or digit first",
               field);
}

Result<Json> find_in_sites(Session& session, const std::string& kind, const std::string& name) {
  const std::string field = upper(singular(kind));
  const size_t slash = name.find('/');
  if (slash != std::string::npos) {
    TRY(check_id(name.substr(0, slash), field));
    TRY(check_id(name.substr(slash + 1), field));
    Result<Json> row = look(session, kind, name.substr(0, slash), name.substr(slash + 1));
    if (!row.ok() && row.error().code == Code::kNotFound) return not_found(kind, name);
    return row;
  }
  TRY(check_id(name, field));
  std::vector<Json> found;
  std::string names;
  const Json sites = TRY(session.api.list("/v1/sites", {}));
  for (const Json& site : sites) {
    const std::string id = json_text(site, "site");
    Result<Json> row = look(session, kind, id, name);
    if (!row.ok() && row.error().code == Code::kNotFound) continue;
    if (!row.ok()) return row;
    names += (names.empty() ? "" : ", ") + id + "/" + name;
    found.push_back(std::move(row).value());
  }
  if (found.empty()) return not_found(kind, name);
  if (found.size() == 1) return found[0];
  return Error(Code::kInvalidInput,
               "\"" + name + "\" is the name of more than one " + singular(kind) + ": " + names +
                   "; write SITE/" + field,
               field);
}

std::string path_of(const std::string& kind, const Json& row, const std::string& id_key) {
  return "/v1/" + kind + "/" + url_part(json_text(row, "site")) + "/" +
         url_part(json_text(row, id_key));
}

Result<Json> read_named_json(const std::string& path, const std::string& field) {
  Result<Json> json = read_json_file(path, limits::kConfigBytes);
  if (!json.ok()) return Error(Code::kInvalidInput, json.error().message, field);
  if (json.value().is_object()) return json;
  return Error(Code::kInvalidInput, path + ": must hold a JSON object", field);
}

std::string place_name(const Json& row, const std::string& id_key) {
  return json_text(row, "site") + "/" + json_text(row, id_key);
}

Result<Json> PatientClient::get(const std::string& path, int64_t wait_s, int64_t deadline_ms) {
  while (true) {
    Result<Json> answer = session_.api.get(path, wait_s);
    if (answer.ok()) {
      if (away_) session_.console.note("the coordinator answers again");
      away_ = false;
      return answer;
    }
    const bool late = deadline_ms != 0 && session_.console.clock.monotonic_ms() >= deadline_ms;
    if (late || !session_.api.may_come_back(answer.error())) return answer;
    if (!away_) {
      session_.console.note("the coordinator does not answer; going on when it does");
    }
    away_ = true;
    session_.console.clock.sleep_ms(kAgainMs);
  }
}

}  // namespace leasehold
