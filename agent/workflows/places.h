// What the tables of the workflows are made of, so that each reads as its runbook: places, the
// power-off, a command to the ramdisk, the opening of the ramdisk, and the end that parks. Built
// once, at the start; `tools` outlives them.
#pragma once

#include "agent/engine/workflow.h"
#include "agent/steps/ramdisk.h"
#include "agent/tools.h"

namespace leasehold {

inline constexpr int64_t kMinute = 60'000;
inline constexpr int64_t kHour = 60 * kMinute;

using StepFunction = StepOutcome (*)(const Tools&, StepContext&);

Place place(const Tools& tools, const char* group, const char* title, const char* name,
            int64_t deadline_ms, StepFunction step);
Place power_off_place(const Tools& tools, const char* group, const char* name, bool clears_debt);
// A command to the ramdisk: its row first, then the wait for the signed result.
void add_command(std::vector<Place>& places, const Tools& tools, const char* group,
                 const char* title, const std::string& name, const CommandSpec& spec);
// The ramdisk is opened and booted, and its inventory taken. finish_ramdisk() closes the table.
void add_ramdisk(std::vector<Place>& places, const Tools& tools, const char* group,
                 const CommandSpec& inventory);
// The ramdisk's certificate ends with what may still be asked of it: known when the table is.
void finish_ramdisk(std::vector<Place>& places, const Tools& tools);

// A workflow that leaves its machine off and its node ready, or failed. `begins_with` is checked
// before its first place does anything.
Workflow parking(const Tools& tools, const char* name, const char* begins_with,
                 StepFunction clean_up);
void check_beginning(Workflow& workflow);

}  // namespace leasehold
