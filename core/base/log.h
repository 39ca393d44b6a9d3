// Logs are JSON lines on stderr: {"at","event","level",...}. Event names come from this closed
// list; each has one line for the operator (`leasehold-agent explain EVENT`). Secrets that a
// program knows are registered once and scrubbed from every line, because a BMC may echo them.
// Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "core/base/json.h"

namespace leasehold {

// X(enumerator, "name", level, "what it means and what to do")
#define LEASEHOLD_LOG_EVENTS(X)                                                                   \
  X(kProgramStarted, "program.started", "info", "The program serves from now on.")                \
  X(kProgramStopping, "program.stopping", "info", "The program was asked to stop.")               \
  X(kProgramFailed, "program.failed", "error", "The program cannot go on; see the message.")      \
  X(kRunStarted, "run.started", "info", "A run of a workflow began on a node.")                   \
  X(kRunFinished, "run.finished", "info", "A run ended; its outcome is in the line.")             \
  X(kRunResumed, "run.resumed", "info", "After a restart the run goes on at the shown step.")     \
  X(kStepStarted, "step.started", "info", "A step of a run began.")                               \
  X(kStepDone, "step.done", "info", "A step of a run is done.")                                   \
  X(kStepFailed, "step.failed", "error", "A step failed: the node is quarantined.")               \
  X(kStepPolling, "step.polling", "debug", "A step waits for the machine.")                       \
  X(kCommitFailed, "journal.commit-failed", "error",                                              \
    "The database could not be written: nothing is lost, it is tried again. Free disk space.")    \
  X(kCheckpointFailed, "database.checkpoint-failed", "error",                                     \
    "The write-ahead log could not be copied back; it grows meanwhile. Free disk space.")         \
  X(kCrashCounted, "run.crash-counted", "error",                                                  \
    "The agent crashed while a step of this run was at work; three times make it POISONED.")      \
  X(kPowerOffOwed, "power.off-owed", "error",                                                     \
    "A quarantined machine is not shown to be off. It is tried again; cut its power by hand.")    \
  X(kPowerOffPaid, "power.off-paid", "info", "The quarantined machine reads Off.")                \
  X(kWorkAccepted, "work.accepted", "info", "A work row was accepted.")                           \
  X(kWorkRefused, "work.refused", "error", "A work row was refused; its code says why.")          \
  X(kRequestRefused, "request.refused", "error",                                                  \
    "A request at a door was refused; if it repeats, find out who sends it.")                     \
  X(kEvidenceRefused, "evidence.refused", "error",                                                \
    "A result was refused: somebody signed what they may not, or a machine was mixed up.")        \
  X(kBootArmed, "boot.armed", "info", "A MAC may boot the platform ramdisk once.")                \
  X(kBootServed, "boot.served", "info", "A boot file or script was served.")                      \
  X(kBootClaimed, "boot.claimed", "info", "A run document was fetched.")                          \
  X(kBootClaimedTwice, "boot.claimed-twice", "error",                                             \
    "A run document was asked for twice: somebody else is on the provisioning network.")          \
  X(kRamdiskJoined, "ramdisk.joined", "info",                                                     \
    "The platform ramdisk of a run has its certificate.")                                         \
  X(kRamdiskCommand, "ramdisk.command", "info", "The ramdisk works on a command.")                \
  X(kRamdiskNetwork, "ramdisk.network", "info",                                                   \
    "The machine's network interface has its address.")                                           \
  X(kRamdiskDocument, "ramdisk.document", "info", "The ramdisk knows its run and its gateway.")   \
  X(kRamdiskHello, "ramdisk.hello", "info", "The gateway showed itself; the clock starts here.")  \
  X(kRamdiskResult, "ramdisk.result", "info", "The site has taken the result of a command.")      \
  X(kRamdiskWaiting, "ramdisk.waiting", "error",                                                  \
    "The ramdisk does not reach its gateway and goes on trying: check gateway, network, cable.")  \
  X(kConnectionClosed, "connection.closed", "info", "A connection was closed by the agent.")      \
  X(kAgentConnected, "gateway.agent-connected", "info", "The gateway reaches the agent.")         \
  X(kAgentLost, "gateway.agent-lost", "error",                                                    \
    "The gateway cannot reach the agent: machines get 503 until it runs again.")                  \
  X(kCoordinatorReached, "coordinator.reached", "info",                                           \
    "The agent and its coordinator hear each other; rows flow both ways.")                        \
  X(kCoordinatorAway, "coordinator.away", "error",                                                \
    "The coordinator is not reached: the site goes on with what it has begun, and keeps trying.") \
  X(kSyncRefused, "sync.refused", "error",                                                        \
    "A batch of rows was refused and nothing of it applied; the line says by whom and why.")      \
  X(kSyncDiverged, "sync.diverged", "error",                                                      \
    "Site and coordinator hold different rows in a table: it is fetched again as a whole.")       \
  X(kSiteRestored, "site.restored", "error",                                                      \
    "The database is a copy or a backup: no machine is touched before its rows came back.")       \
  X(kSiteStanding, "site.standing", "info", "What the agent may do changed; the line says how.")  \
  X(kSiteSuperseded, "site.superseded", "error",                                                  \
    "A newer agent of this site is at work; this one touches nothing any more. Stop one.")        \
  X(kAuthorityOver, "site.authority-over", "error",                                               \
    "The authority term is over or cannot be shown: no run starts until the coordinator is "      \
    "heard.")                                                                                     \
  X(kCertificateRenewed, "certificate.renewed", "info",                                           \
    "A certificate of the site was renewed and is used from now on.")                             \
  X(kCertificateNotRenewed, "certificate.not-renewed", "error",                                   \
    "A certificate of the site could not be renewed; it is tried again until it expires.")        \
  X(kFaultHit, "simsite.fault-hit", "info", "A fault rule of the simulated site was applied.")    \
  X(kMachineState, "simsite.machine", "info", "A simulated machine changed its state.")

enum class LogEvent {
#define LEASEHOLD_ENUM(enumerator, name, level, meaning) enumerator,
  LEASEHOLD_LOG_EVENTS(LEASEHOLD_ENUM)
#undef LEASEHOLD_ENUM
};

std::string_view log_event_name(LogEvent event);
std::string_view log_event_meaning(LogEvent event);

// Writes one line. `fields` must be an object; "at", "event" and "level" are added.
void log_line(LogEvent event, Json fields);

// From now on every occurrence of `secret` (4 bytes or more) in a line is replaced by [secret].
void log_scrub(const std::string& secret);
// The same replacement for an error text or any other text on its way out.
std::string scrubbed(std::string text);

}  // namespace leasehold
