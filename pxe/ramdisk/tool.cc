#include "pxe/ramdisk/tool.h"

#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/subprocess.h"
#include "pxe/ramdisk/sysroot.h"

namespace leasehold {

WipeCommand ToolRun::record() const {
  std::string printed = out;
  if (!out.empty() && !err.empty() && out.back() != '\n') printed += '\n';
  printed += err;
  WipeCommand command;
  command.argv = argv;
  command.exit = exit;
  command.output = scrubbed(printable(printed, limits::kRamdiskToolRecordBytes));
  return command;
}

ToolRun run_tool(std::vector<std::string> argv, int64_t timeout_ms) {
  SubprocessOptions options;
  options.argv = argv;
  options.timeout_ms = timeout_ms;
  ToolRun run;
  run.argv = std::move(argv);
  Result<SubprocessOutcome> outcome = run_subprocess(options);
  if (!outcome.ok()) {
    run.err = outcome.error().text();
    return run;
  }
  run.exit = outcome.value().exit_code;
  run.out = std::move(outcome.value().out);
  run.err = std::move(outcome.value().err);
  return run;
}

Result<Json> tool_json(const std::string& output) {
  size_t last = output.find_last_of("}]");
  if (last == std::string::npos) return Error(Code::kMalformed, "printed no JSON");
  // Each line that opens a value may be its beginning: a warning can itself begin with a bracket.
  for (size_t at = 0, tries = 0; at < last && tries < limits::kRamdiskJsonStarts; ++tries) {
    if (output[at] == '{' || output[at] == '[') {
      Result<Json> value = parse_json(std::string_view(output).substr(at, last + 1 - at));
      if (value.ok()) return value;
    }
    size_t newline = output.find('\n', at);
    if (newline == std::string::npos) break;
    at = output.find_first_not_of(" \t\r\n", newline);
    if (at == std::string::npos) break;
  }
  return Error(Code::kMalformed, "printed no JSON that can be read");
}

}  // namespace leasehold
