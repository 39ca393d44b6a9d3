#include "coordinator/cli/console.h"

#include <algorithm>
#include <istream>
#include <ostream>

#include "coordinator/cli/terminal.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

// Between an error's message and the advice in one text: no message that came from outside holds
// it, since harmless() takes it out.
constexpr char kAdvice = '\n';

}  // namespace

void Console::print(const std::string& text) const { out << text << std::flush; }

void Console::print_json(const Json& document) const {
  print(harmless_json(dump_json_pretty(document)) + "\n");
}

void Console::print_json_line(const Json& document) const {
  print(harmless_json(dump_json(document)) + "\n");
}

void Console::print_table(const Table& table, const std::string& none) const {
  print(table.empty() ? none + "\n" : table.text(width));
}

void Console::print_fields(const std::vector<Field>& fields) const {
  print(field_lines(fields, width));
}

void Console::note(const std::string& text) const {
  err << "leasehold: " << harmless(scrubbed(text)) << std::endl;
}

std::string Console::time(const std::string& rfc3339) const {
  return local_time(rfc3339, clock.now_ms());
}

std::string Console::time_long(const std::string& rfc3339) const {
  return local_time_long(rfc3339);
}

Error advised(Error error) {
  error.message = harmless(error.message) + kAdvice + std::string(code_next(error.code));
  return error;
}

std::string error_text(const Error& error, bool json) {
  const size_t end = std::min(error.message.find(kAdvice), error.message.size());
  const std::string message = scrubbed(error.message.substr(0, end));
  const std::string next = end < error.message.size() ? error.message.substr(end + 1) : "";
  if (json) {
    const Json object = {{"code", code_name(error.code)},
                         {"message", message},
                         {"field", error.field},
                         {"next", next}};
    return harmless_json(dump_json(object)) + "\n";
  }
  const std::string line = "leasehold: " + message + " (" + std::string(code_name(error.code)) +
                           (error.field.empty() ? "" : ", field " + error.field) + ")";
  return harmless(line) + "\n" + (next.empty() ? "" : "  " + harmless(next) + "\n");
}

int exit_code_of(const Error& error) {
  return error.code == Code::kInvalidInput ? kExitUsage : kExitRefused;
}

Status confirm(const Console& console, bool yes, const std::string& what, const std::string& word) {
  if (yes) return {};
  if (console.answers == nullptr || console.json) {
    return Error(Code::kInvalidInput, what + ": say --yes if that is meant", "--yes");
  }
  console.err << harmless(what) << ".\nType " << harmless(word) << " to go on: " << std::flush;
  std::string answer;
  std::getline(*console.answers, answer);
  if (answer == word) return {};
  return Error(Code::kStopped, "nothing was done: the answer was not \"" + word + "\"");
}

}  // namespace leasehold
