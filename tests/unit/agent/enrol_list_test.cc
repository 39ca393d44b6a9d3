// What a technician writes: addresses, MACs, pins and CSV files of machines, read and checked as a
// whole before anything is sent.
#include "agent/command/enrol_list.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "agent/machine_words.h"
#include "tests/support/temp_folder.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

std::string csv_problem(const std::string& text) {
  Result<std::vector<MachineLine>> parsed = parse_machine_csv(text);
  return parsed.ok() ? "accepted" : parsed.error().message;
}

std::string secret_file(const TempFolder& folder, const std::string& name, mode_t mode = 0600) {
  std::ofstream(folder.file(name)) << "box-1\n";
  ::chmod(folder.file(name).c_str(), mode);
  return folder.file(name);
}

}  // namespace

TEST_CASE("a machine is named in one form: BMC, MAC and pin") {
  CHECK(normal_bmc_url("10.0.0.7").value() == "https://10.0.0.7");
  CHECK(normal_bmc_url("HTTPS://BMC.Example.net:443/").value() == "https://bmc.example.net");
  CHECK(normal_bmc_url("https://10.0.0.7:8443").value() == "https://10.0.0.7:8443");
  CHECK(normal_bmc_url("[fe80::1]:8443").value() == "https://[fe80::1]:8443");
  for (const char* wrong :
       {"", "http://10.0.0.7", "https://", "https://a b", "https://u:p@10.0.0.7",
        "https://10.0.0.7/redfish", "10.0.0.7:0", "10.0.0.7:port", "-x"}) {
    INFO(wrong);
    CHECK_FALSE(normal_bmc_url(wrong).ok());
  }
  CHECK(normal_mac_of("52-54-00-AB-00-01").value() == "52:54:00:ab:00:01");
  CHECK_FALSE(normal_mac_of("52:54:00:ab:00").ok());
  CHECK(normal_tls_pin(std::string(63, 'A') + "b").value() == std::string(63, 'a') + "b");
  CHECK_FALSE(normal_tls_pin("abc").ok());
}

TEST_CASE("a CSV file of machines: quotes, comments, blank lines, columns in any order") {
  auto machines = parse_machine_csv(
                      "\xef\xbb\xbf# rack 7\r\nuser,bmc,password_file,boot_mac\r\n\r\n"
                      "admin, 10.0.0.1 ,\"a, \"\"b\"\".txt\",52:54:00:00:00:01\r\n")
                      .value();
  REQUIRE(machines.size() == 1);
  CHECK(machines[0].line == 4);
  CHECK(machines[0].user == "admin");
  CHECK(machines[0].bmc == "10.0.0.1");
  CHECK(machines[0].password_file == "a, \"b\".txt");
  CHECK(machines[0].boot_mac == "52:54:00:00:00:01");
}

TEST_CASE("every wrong line of a CSV file is named with its number") {
  const std::string head = "bmc,user,password_file\n";
  CHECK(csv_problem("bmc,user\n").find("line 1: there is no column password_file") == 0);
  CHECK(csv_problem("bmc,user,password\n").find("line 1: ") == 0);
  CHECK(csv_problem("bmc,user,password_file,bmc\n").find("line 1: ") == 0);
  CHECK(csv_problem(head) == "the file names no machine");
  CHECK(csv_problem(head + "a,b\nc,d,e\n\"f,g,h\n") ==
        "line 2: it has 2 fields, and the first line names 3\n  line 4: a quote does not end");
}

TEST_CASE("a request names every wrong machine, and reads no password of others' eyes") {
  TempFolder folder;
  secret_file(folder, "good");
  std::string open = secret_file(folder, "open", 0644);
  std::vector<MachineLine> machines = {{2, "n1", "h100", "10.0.0.1", "root", "good", "", ""},
                                       {3, "n1", "h100", "10.0.0.2", "root", "good", "", ""},
                                       {4, "", "h100", "10.0.0.3", "root", open, "", ""},
                                       {5, "", "h100", "10.0.0.3", "", "good", "", ""},
                                       {6, "", "", "10.0.0.4", "root", "good", "", ""},
                                       {7, "", "h100", "10.0.0.5", "root", "good", "52:54", ""}};
  Result<Json> request = enrolment_request(machines, folder.path());
  REQUIRE_FALSE(request.ok());
  std::string text = request.error().message;
  for (const char* words : {"line 3: name: n1 stands in line 2", "line 4: password_file",
                            "line 5: user:", "line 6: pool:", "line 7: boot_mac:"}) {
    INFO(text);
    CHECK(text.find(words) != std::string::npos);
  }
  CHECK(text.find("box-1") == std::string::npos);
  machines.resize(1);
  Json good = enrolment_request(machines, folder.path()).value();
  CHECK(good["enrolments"][0]["bmc"]["password"] == "box-1");
  CHECK(good["enrolments"][0]["bmc"]["url"] == "https://10.0.0.1");
  Error about = about_line(Error(Code::kConflict, "taken", "enrolments[0].bmc.url"), machines);
  CHECK(about.message == "line 2: taken");
  CHECK(about.field == "bmc.url");
}
