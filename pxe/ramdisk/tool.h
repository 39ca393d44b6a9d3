// One run of an outside tool (nvme, nvidia-smi, dcgmi), kept as evidence: what was called, how it
// ended, what it printed. A tool that is missing, hangs or floods is an outcome like any other.
// Blocks the calling thread; thread-safe. A caller judges by exit code and output, never by
// neither.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/evidence/disk_wipe.h"

namespace leasehold {

struct ToolRun {
  std::vector<std::string> argv;
  int exit = -1;  // -1: not started, or killed at its deadline; `err` says which
  std::string out;
  std::string err;

  bool ok() const { return exit == 0; }
  // What is kept of it: the first bytes it printed, printable.
  WipeCommand record() const;
};

ToolRun run_tool(std::vector<std::string> argv, int64_t timeout_ms);

// The JSON that a tool printed, which may stand after lines of text. MALFORMED.
Result<Json> tool_json(const std::string& output);

}  // namespace leasehold
