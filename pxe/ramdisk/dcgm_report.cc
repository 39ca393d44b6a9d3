#include "pxe/ramdisk/dcgm_report.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/base/limits.h"
#include "pxe/ramdisk/sysroot.h"
#include "pxe/ramdisk/tool.h"

namespace leasehold {
namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string short_text(const Json& object, const std::string& key) {
  return printable(trimmed(json_text(object, key)), 128);
}

bool is_empty(const Json& value) {
  return value.is_null() || value == "" || value == 0 || (value.is_structured() && value.empty());
}

// Whatever a tool calls it ("error", "errors", "error_id", "runtime_error"), it must be empty.
bool has_error(const Json& object) {
  if (!object.is_object()) return false;
  for (const auto& [key, value] : object.items()) {
    if (upper(key).find("ERROR") != std::string::npos && !is_empty(value)) return true;
  }
  // Quirk F11: a Pass whose warning says that the test could not allocate what it needs.
  std::string warnings = upper(dump_json(json_member(object, "warnings")));
  for (const char* word : {"ERROR", "FAIL", "UNABLE", "CANNOT", "COULD NOT", "COULDN'T"}) {
    if (warnings.find(word) != std::string::npos) return true;
  }
  return false;
}

int parse_id(std::string_view text) {
  int value = -1;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() && value >= 0 ? value : -1;
}

int integer(const Json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() < 65536) return value.get<int>();
  return value.is_string() ? parse_id(value.get_ref<const std::string&>()) : -1;
}

// "0,1" (2.x, 3.x), a number, or an entity of the group "GPU" (4.x). Empty: it names none.
std::vector<int> gpu_ids(const Json& result) {
  std::vector<int> ids;
  const Json& list = json_member(result, "gpu_ids");
  if (list.is_string()) {
    std::string text = list.get<std::string>() + ",";
    for (size_t from = 0, to; (to = text.find(',', from)) != std::string::npos; from = to + 1) {
      std::string part = trimmed(text.substr(from, to - from));
      if (!part.empty()) ids.push_back(parse_id(part));
    }
  } else if (list.is_array()) {
    for (const Json& id : list) ids.push_back(integer(id));
  } else if (list.is_number()) {
    ids.push_back(integer(list));
  } else if (upper(json_text(result, "entity_group")) == "GPU") {
    ids.push_back(integer(json_member(result, "entity_id")));
  }
  if (ids.size() > limits::kRamdiskGpus) ids.resize(limits::kRamdiskGpus);
  return ids;
}

class Walk {
 public:
  explicit Walk(DcgmReport& report) : report_(report) {}

  // Finds tests wherever they are: an object with a name and results.
  void visit(const Json& value) {
    if (value.is_array()) {
      for (const Json& item : value) visit(item);
    }
    if (!value.is_object()) return;
    if (value.contains("results")) return test(value);
    if (value.contains("entity_id") && value.contains("serial_num")) entity(value);
    if (report_.version.empty()) report_.version = short_text(value, "version");
    if (has_error(value)) report_.problems.push_back("dcgmi reports an error of its own");
    for (const Json& member : value) visit(member);
  }

 private:
  void test(const Json& value) {
    std::string name = short_text(value, "name");
    if (name.empty()) name = "unnamed";
    if (report_.tests.size() < limits::kRamdiskDiagTests) report_.tests.insert(name);
    if (has_error(value)) report_.problems.push_back("test " + name + " reports an error");
    const Json& summary = json_member(value, "test_summary");
    bool failed =
        !summary.is_null() && (upper(json_text(summary, "status")) != "PASS" || has_error(summary));
    if (failed) report_.problems.push_back("the summary of test " + name + " is no pass");
    const Json& results = json_member(value, "results");
    if (!results.is_array()) return report_.problems.push_back("test " + name + " has no results");
    for (const Json& result : results) row(name, result);
  }

  void row(const std::string& name, const Json& result) {
    if (result.is_null()) return;
    std::string status = upper(short_text(result, "status"));
    if (status.empty()) status = "UNKNOWN";
    if (status == "PASS" && has_error(result)) status = "PASS WITH ERROR";
    std::vector<int> ids = gpu_ids(result);
    // A row about the host's CPU or a switch belongs to no GPU; whatever it says, it must not be
    // worse than a pass.
    if (ids.empty() && status != "PASS") {
      report_.problems.push_back("test " + name + " is " + status);
    }
    for (int id : ids) {
      if (report_.rows.size() < limits::kRamdiskDiagTests) {
        report_.rows.push_back({name, id, status});
      } else if (report_.problems.empty()) {
        report_.problems.push_back("more test results than are read");
      }
    }
  }

  void entity(const Json& value) {
    int id = integer(json_member(value, "entity_id"));
    std::string serial = short_text(value, "serial_num");
    if (id >= 0 && !serial.empty()) report_.serials[id] = serial;
  }

  DcgmReport& report_;
};

}  // namespace

Result<DcgmReport> parse_dcgm_report(const std::string& output) {
  Json json = TRY(tool_json(output));
  if (!json.is_object()) return Error(Code::kMalformed, "dcgmi printed no JSON object");
  DcgmReport report;
  Walk(report).visit(json);
  return report;
}

}  // namespace leasehold
