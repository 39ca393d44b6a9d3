#include "pxe/ramdisk/ramdisk.h"

#include <algorithm>

#include "core/base/limits.h"
#include "core/base/log.h"
#include "pxe/ramdisk/heartbeat.h"

namespace leasehold {
namespace {

int64_t backoff_ms(int64_t failures) {
  int64_t wait_ms = limits::kRamdiskBackoffFirstMs << std::min<int64_t>(failures, 16);
  return std::min(wait_ms, limits::kRamdiskBackoffMaxMs);
}

// A wait that goes on for hours must not fill a serial console: the 1st, 2nd, 4th, 8th ... failure.
void log_waiting(const char* what, int64_t failures, const Error& error) {
  if ((failures & (failures - 1)) != 0) return;
  log_line(LogEvent::kRamdiskWaiting,
           {{"for", what}, {"failures", failures}, {"message", error.text()}});
}

// MALFORMED too: an agent that is killed in the middle of its answer. A join with the same CSR is
// answered alike, so that sending it again is safe.
bool may_come_later(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kTimeout ||
         error.code == Code::kMalformed;
}

}  // namespace

// The document is handed out once. So it is asked for again only when the request cannot have
// reached anybody; after that a second claim would look like a second machine.
Result<RunDocument> Ramdisk::fetch_document(const BootFacts& facts) {
  HttpRequest request;
  request.url = facts.run_url;
  HttpOptions options;
  options.connect_timeout_ms = limits::kRamdiskConnectMs;
  options.timeout_ms = limits::kRamdiskRequestMs;
  options.max_body_bytes = limits::kConfigBytes;
  for (int64_t failures = 1;; ++failures) {
    Result<HttpResponse> response = http_.send(request, options);
    if (response.ok() && response.value().status != 200) {
      return Error(Code::kRefused, "the boot service answered " +
                                       std::to_string(response.value().status) +
                                       " to the request for the run document");
    }
    if (response.ok()) return parse_run_document(response.value().body, facts);
    bool again = response.error().code == Code::kUnavailable;
    if (!again || failures >= limits::kRamdiskDocumentTries) return response.error();
    log_waiting("run document", failures, response.error());
    clock_.sleep_ms(backoff_ms(failures));
  }
}

Status Ramdisk::greet_and_join(GatewayClient& gateway) {
  // Whoever answers a hello wrongly is not our gateway, and ours may still come: go on trying.
  for (int64_t failures = 1;; ++failures) {
    Status greeted = gateway.hello();
    if (greeted.ok()) break;
    log_waiting("hello", failures, greeted.error());
    clock_.sleep_ms(backoff_ms(failures));
  }
  log_line(LogEvent::kRamdiskHello, {{"time", format_time(clock_.now_ms())}});
  for (int64_t failures = 1;; ++failures) {
    Status joined = gateway.join();
    if (joined.ok()) return {};
    if (!may_come_later(joined.error())) return joined;
    log_waiting("join", failures, joined.error());
    clock_.sleep_ms(backoff_ms(failures));
  }
}

void Ramdisk::answer(GatewayClient& gateway, Executor& executor, const Command& command) {
  log_line(LogEvent::kRamdiskCommand, {{"command", command.id}, {"verb", command.verb}});
  Result<std::string> result = [&] {
    Heartbeat heartbeat(gateway, command.id);
    return executor.run(command);
  }();
  if (!result.ok()) {
    log_line(LogEvent::kRequestRefused,
             {{"command", command.id}, {"message", result.error().text()}});
    [[maybe_unused]] Status told = gateway.telemetry(command.id, result.error().text());
    return;
  }
  for (int64_t failures = 1;; ++failures) {
    Status posted = gateway.post_result(result.value());
    if (posted.ok()) {
      log_line(LogEvent::kRamdiskResult, {{"command", command.id}});
      return;
    }
    if (posted.error().code == Code::kRefused) {
      log_line(LogEvent::kRequestRefused,
               {{"command", command.id}, {"message", posted.error().text()}});
      return;
    }
    log_waiting("the result to be taken", failures, posted.error());
    clock_.sleep_ms(backoff_ms(failures));
  }
}

void Ramdisk::serve_once(GatewayClient& gateway, Executor& executor) {
  Result<std::vector<Command>> commands = gateway.commands(newest_);
  if (!commands.ok()) {
    ++failed_polls_;
    log_waiting("commands", failed_polls_, commands.error());
    clock_.sleep_ms(backoff_ms(failed_polls_));
    return;
  }
  failed_polls_ = 0;
  for (const Command& command : commands.value()) answer(gateway, executor, command);
}

Status Ramdisk::run() {
  BootFacts facts = TRY(read_boot_facts(root_));
  RunDocument document = TRY_WITH(fetch_document(facts), "run document");
  log_line(LogEvent::kRamdiskDocument,
           {{"node", document.node}, {"run", document.run}, {"boot", document.boot}});
  GatewayClient gateway(http_, facts, std::move(document), clock_, random_);
  TRY_WITH(greet_and_join(gateway), "join");
  log_line(LogEvent::kRamdiskJoined, {{"run", gateway.document().run}});
  Executor executor(root_, gateway.identity(), clock_);
  while (true) serve_once(gateway, executor);
}

}  // namespace leasehold
