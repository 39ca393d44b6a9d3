// The program itself: usage, JSON errors, exit codes.
#include <catch2/catch.hpp>

#include "core/base/json.h"
#include "core/base/subprocess.h"

namespace leasehold {
namespace {

SubprocessOutcome leasehold_program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), LEASEHOLD_BIN_DIR "/leasehold");
  return run_subprocess({std::move(arguments), {}, 60'000}).value();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("wrong usage is one line that names the help, and ends with 2") {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{},
                                             {"node"},
                                             {"nodes"},
                                             {"node", "release"},
                                             {"node", "maintenance", "n1", "maybe"},
                                             {"node", "list", "--state", "sad"},
                                             {"node", "release", "n1", "--wait", "-1"},
                                             {"run", "list", "--limit", "-1"},
                                             {"pool", "create", "p", "--site", "s1"},
                                             {"evidence", "export", "r-1"},
                                             {"events", "--colour"}}) {
    const SubprocessOutcome outcome = leasehold_program(wrong);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
    CHECK(has(outcome.err, "see: leasehold"));
    CHECK(has(outcome.err, "--help"));
  }
  CHECK(has(leasehold_program({"node", "release"}).err, "see: leasehold node release --help"));
}

TEST_CASE("errors are JSON when JSON is wished, usage errors too") {
  SubprocessOutcome outcome = leasehold_program({"node", "release", "--json"});
  CHECK(outcome.exit_code == 2);
  CHECK(parse_json(outcome.err).value()["code"] == "INVALID_INPUT");
  outcome = leasehold_program({"node", "list", "--json", "--config", "/nonexistent/c.json"});
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.out.empty());
  CHECK(parse_json(outcome.err).value()["code"] == "CONFIG");
}

TEST_CASE("every noun has a help that fits 80 columns") {
  for (const char* noun : {"site", "hardware-profile", "pool", "node", "run", "work", "evidence",
                           "events", "audit", "status", "whoami", "ca"}) {
    const SubprocessOutcome outcome = leasehold_program({noun, "--help"});
    CHECK(outcome.exit_code == 0);
    size_t begin = 0;
    while (begin < outcome.out.size()) {
      const size_t end = outcome.out.find('\n', begin);
      INFO(outcome.out.substr(begin, end - begin));
      CHECK(end - begin <= 80);
      begin = end + 1;
    }
  }
}

TEST_CASE("an answer that cannot be written is no success") {
  const SubprocessOutcome outcome =
      run_subprocess(
          {{"/bin/sh", "-c", LEASEHOLD_BIN_DIR "/leasehold node --help > /dev/full; echo $?"},
           {},
           60'000})
          .value();
  CHECK(outcome.out == "1\n");
}

}  // namespace leasehold
