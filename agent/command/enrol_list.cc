#include "agent/command/enrol_list.h"

#include <charconv>
#include <filesystem>
#include <set>

#include "agent/machine_words.h"
#include "core/base/files.h"
#include "core/base/ids.h"

namespace leasehold {
namespace {

constexpr size_t kPasswordBytes = 256;
constexpr size_t kMachinesAtOnce = 1000;  // so that the request fits into one body

using Column = std::string MachineLine::*;
const std::map<std::string, Column>& columns() {
  static const std::map<std::string, Column> kColumns = {
      {"name", &MachineLine::name},         {"pool", &MachineLine::pool},
      {"bmc", &MachineLine::bmc},           {"user", &MachineLine::user},
      {"boot_mac", &MachineLine::boot_mac}, {"password_file", &MachineLine::password_file},
      {"tls_pin", &MachineLine::tls_pin}};
  return kColumns;
}

// Problems of many lines, told at once.
class Problems {
 public:
  void add(int line, const std::string& text) {
    text_ += (text_.empty() ? "" : "\n  ") +
             (line == 0 ? "" : "line " + std::to_string(line) + ": ") + text;
  }
  void add(int line, const Error& error) {
    add(line, error.field.empty() ? error.message : error.field + ": " + error.message);
  }
  bool none() const { return text_.empty(); }
  Error error() const { return Error(Code::kInvalidInput, text_); }

 private:
  std::string text_;
};

std::string trimmed(const std::string& text) {
  size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  size_t at = text.rfind("\xef\xbb\xbf", 0) == 0 ? 3 : 0;  // what spreadsheets put before a file
  while (at < text.size()) {
    size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(trimmed(text.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

Result<std::vector<Column>> parse_header(const std::string& line) {
  std::vector<Column> found;
  std::set<std::string> names;
  for (const std::string& name : TRY(split_csv_line(line))) {
    auto column = columns().find(name);
    if (column == columns().end() || !names.insert(name).second) {
      return Error(Code::kInvalidInput,
                   "the first line names the columns, each once: bmc, user, password_file, and " +
                       std::string("perhaps name, pool, boot_mac, tls_pin; not \"") +
                       name.substr(0, 40) + "\"");
    }
    found.push_back(column->second);
  }
  for (const char* needed : {"bmc", "user", "password_file"}) {
    if (!names.contains(needed)) {
      return Error(Code::kInvalidInput, "there is no column " + std::string(needed));
    }
  }
  return found;
}

Result<MachineLine> parse_line(const std::vector<Column>& header, const std::string& line) {
  std::vector<std::string> fields = TRY(split_csv_line(line));
  if (fields.size() != header.size()) {
    return Error(Code::kInvalidInput, "it has " + std::to_string(fields.size()) +
                                          " fields, and the first line names " +
                                          std::to_string(header.size()));
  }
  MachineLine machine;
  for (size_t i = 0; i < fields.size(); ++i) machine.*header[i] = fields[i];
  return machine;
}

Result<std::string> read_password(const MachineLine& machine, const std::string& folder) {
  if (machine.password_file.empty()) {
    return Error(Code::kInvalidInput, "name the file with the BMC's password");
  }
  std::filesystem::path path = machine.password_file;
  if (path.is_relative()) path = std::filesystem::path(folder) / path;
  return read_secret_file(path.string(), kPasswordBytes);
}

// One machine as the agent reads it; INVALID_INPUT whose field is the column.
Result<Json> machine_json(const MachineLine& machine, const std::string& folder) {
  auto in_column = [](const char* column, Result<std::string> result) {
    if (!result.ok()) result.error().field = column;
    return result;
  };
  Json out = Json::object();
  if (!machine.name.empty()) {
    TRY(NodeId::parse(machine.name, "name"));
    out["node"] = machine.name;
  }
  if (machine.pool.empty()) {
    return Error(Code::kInvalidInput, "name the pool, here or with --pool", "pool");
  }
  TRY(PoolId::parse(machine.pool, "pool"));
  out["pool"] = machine.pool;
  Json bmc = Json::object();
  bmc["url"] = TRY(in_column("bmc", normal_bmc_url(machine.bmc)));
  if (machine.user.empty()) return Error(Code::kInvalidInput, "it must be a name", "user");
  bmc["user"] = machine.user;
  if (!machine.tls_pin.empty()) {
    bmc["tlsPin"] = TRY(in_column("tls_pin", normal_tls_pin(machine.tls_pin)));
  }
  if (!machine.boot_mac.empty()) {
    out["bootMac"] = TRY(in_column("boot_mac", normal_mac_of(machine.boot_mac)));
  }
  bmc["password"] = TRY(in_column("password_file", read_password(machine, folder)));
  out["bmc"] = std::move(bmc);
  return out;
}

}  // namespace

Result<std::vector<std::string>> split_csv_line(const std::string& line) {
  std::vector<std::string> fields;
  std::string field;
  bool quoted = false;
  bool was_quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      field += line[++i];
    } else if (c == '"' && (quoted || trimmed(field).empty())) {
      quoted = !quoted;
      if (quoted) field.clear();
      was_quoted = true;
    } else if (c == ',' && !quoted) {
      fields.push_back(was_quoted ? field : trimmed(field));
      field.clear();
      was_quoted = false;
    } else if (quoted || !was_quoted) {
      field += c;
    } else if (c != ' ' && c != '\t') {
      return Error(Code::kInvalidInput, "a quoted field goes on after its quote");
    }
  }
  if (quoted) return Error(Code::kInvalidInput, "a quote does not end");
  fields.push_back(was_quoted ? field : trimmed(field));
  return fields;
}

Result<std::vector<MachineLine>> parse_machine_csv(const std::string& text) {
  std::vector<MachineLine> machines;
  std::vector<Column> header;
  Problems problems;
  int number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (header.empty()) {
      Result<std::vector<Column>> parsed = parse_header(line);
      if (!parsed.ok()) {
        problems.add(number, parsed.error());
        return problems.error();
      }
      header = std::move(parsed).value();
      continue;
    }
    Result<MachineLine> machine = parse_line(header, line);
    if (!machine.ok()) {
      problems.add(number, machine.error());
      continue;
    }
    machine.value().line = number;
    machines.push_back(std::move(machine).value());
  }
  if (!problems.none()) return problems.error();
  if (machines.empty()) return Error(Code::kInvalidInput, "the file names no machine");
  return machines;
}

Result<Json> enrolment_request(const std::vector<MachineLine>& machines,
                               const std::string& folder) {
  Json list = Json::array();
  Problems problems;
  std::map<std::string, int> seen;  // "name n1" -> its line
  for (const MachineLine& machine : machines) {
    Result<Json> json = machine_json(machine, folder);
    if (!json.ok()) {
      problems.add(machine.line, json.error());
      continue;
    }
    const Json& made = json.value();
    for (const auto& [what, word] :
         std::map<std::string, std::string>{{"name", json_text(made, "node")},
                                            {"bmc", json_text(json_member(made, "bmc"), "url")},
                                            {"boot_mac", json_text(made, "bootMac")}}) {
      if (word.empty()) continue;
      auto [first, fresh] = seen.emplace(what + " " + word, machine.line);
      if (!fresh) {
        problems.add(machine.line, what + ": " + word + " stands in line " +
                                       std::to_string(first->second) + " already");
      }
    }
    list.push_back(made);
  }
  if (!problems.none()) return problems.error();
  if (list.size() > kMachinesAtOnce) {
    return Error(Code::kInvalidInput, "at most " + std::to_string(kMachinesAtOnce) +
                                          " machines at once: split the file");
  }
  return Json{{"enrolments", std::move(list)}};
}

Error about_line(Error error, const std::vector<MachineLine>& machines) {
  constexpr std::string_view kList = "enrolments[";
  if (error.field.rfind(kList, 0) != 0) return error;
  const char* from = error.field.data() + kList.size();
  size_t index = 0;
  auto [end, problem] = std::from_chars(from, error.field.data() + error.field.size(), index);
  if (problem != std::errc() || index >= machines.size() || machines[index].line == 0) return error;
  std::string rest(end);
  error.field = rest.rfind("].", 0) == 0 ? rest.substr(2) : "";
  return std::move(error).with("line " + std::to_string(machines[index].line));
}

}  // namespace leasehold
