// The real leasehold-bootd over its real sockets.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "core/base/files.h"
#include "core/base/limits.h"
#include "core/curl/http_client.h"
#include "tests/support/running_program.h"
#include "tests/unit/pxe/fakes.h"

namespace leasehold {
namespace {

const std::string kMac = "52:54:00:77:00:10";

class Bootd {
 public:
  explicit Bootd(const std::vector<int64_t>& uids = {static_cast<int64_t>(::getuid())}) {
    folder.file("vmlinuz", "KERNEL");
    folder.file("ramdisk.img", "INITRD");
    const Json config = {{"control_socket", folder.path + "/control"},
                         {"control_uids", uids},
                         {"listen_host", "127.0.0.1"},
                         {"listen_port", 0},
                         {"image_dir", folder.path}};
    folder.file("config", config.dump());
    start();
  }
  void start() {
    program.reset();
    program = std::make_unique<test::RunningProgram>(
        std::vector<std::string>{LEASEHOLD_BIN_DIR "/leasehold-bootd", "--config",
                                 folder.path + "/config"},
        folder.path + "/log");
    url = json_text(program->await_event("program.started"), "url");
    REQUIRE_FALSE(url.empty());
  }
  Result<HttpResponse> control(const std::string& method, const std::string& path,
                               const Json& body = nullptr) {
    HttpOptions options;
    options.unix_socket_path = folder.path + "/control";
    options.timeout_ms = 10'000;
    const std::string text = body.is_null() ? "" : body.dump();
    return CurlEasyClient().send({method, "http://bootd" + path, {}, text}, options);
  }
  Json arming(const std::string& boot) {
    return {{"boot", boot},
            {"kernel", "vmlinuz"},
            {"initrd", "ramdisk.img"},
            {"cmdline", "quiet"},
            {"seconds", 900},
            {"document", {{"token", "dG9rZW4tb2YtdGhlLXJ1bg=="}}}};
  }
  void arm(const std::string& boot) {
    REQUIRE(control("PUT", "/v1/armed/" + kMac, arming(boot)).value().status == 204);
  }
  Json claims(int64_t after) {
    HttpResponse answer = control("GET", "/v1/claims?after=" + std::to_string(after)).value();
    REQUIRE(answer.status == 200);
    return parse_json(answer.body).value();
  }
  HttpResponse get(const std::string& path, const std::string& method = "GET") {
    HttpOptions options;
    options.max_body_bytes = 128 << 20;
    return CurlEasyClient().send({method, url + path, {}, ""}, options).value();
  }
  uint16_t port() const { return static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))); }

  TemporaryFolder folder;
  std::unique_ptr<test::RunningProgram> program;
  std::string url;
};

// A connection that says exactly what the test says.
class RawClient {
 public:
  explicit RawClient(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{10, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::connect(socket_.get(), generic, sizeof address) == 0);
  }
  void say(const std::string& text) {
    REQUIRE(::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
  }
  // `count` bytes, fewer only if the connection ends before.
  std::string hear(size_t count) {
    std::string text(count, '\0');
    size_t done = 0;
    while (done < count) {
      const ssize_t got = ::recv(socket_.get(), text.data() + done, count - done, 0);
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    text.resize(done);
    return text;
  }
  std::string hear_head() {
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
      const std::string more = hear(1);
      if (more.empty()) break;
      head += more;
    }
    return head;
  }
  void shut_down() { ::shutdown(socket_.get(), SHUT_WR); }

 private:
  FileDescriptor socket_;
};

TEST_CASE("a machine boots: script, images, document once, claims") {
  Bootd bootd;
  CHECK(bootd.get("/boot/" + kMac).status == 404);
  bootd.arm("b-1");
  const std::string script = bootd.get("/boot/52-54-00-77-00-10").body;
  CHECK(script == "#!ipxe\nkernel " + bootd.url + "/image/vmlinuz initrd=ramdisk.img quiet " +
                      "leasehold.run=" + bootd.url + "/run/b-1\ninitrd --name ramdisk.img " +
                      bootd.url + "/image/ramdisk.img\nboot\n");
  CHECK(bootd.get("/boot/" + kMac).body == script);
  CHECK(bootd.get("/image/vmlinuz").body == "KERNEL");
  CHECK(bootd.get("/image/nothing").status == 404);
  CHECK(bootd.get("/image/..%2f..%2f..%2fetc%2fpasswd").status == 400);
  CHECK(bootd.get("/run/b-9").status == 404);

  HttpResponse document = bootd.get("/run/b-1");
  CHECK(document.status == 200);
  CHECK(document.body == R"({"token":"dG9rZW4tb2YtdGhlLXJ1bg=="})");
  CHECK(bootd.get("/run/b-1").status == 410);
  Json claims = bootd.claims(0)["claims"];
  REQUIRE(claims.size() == 2);
  CHECK(claims[0]["n"] == 1);
  CHECK(claims[0]["boot"] == "b-1");
  CHECK(claims[0]["mac"] == kMac);
  CHECK(claims[0]["peer"] == "127.0.0.1");
  CHECK(claims[0]["count"] == 1);
  CHECK(claims[1]["count"] == 2);
  CHECK(bootd.program->log().find("dG9rZW4") == std::string::npos);
  CHECK_FALSE(bootd.program->find_event("boot.claimed-twice").is_null());
}

TEST_CASE("HEAD shows the length and takes nothing") {
  Bootd bootd;
  bootd.arm("b-1");
  RawClient client(bootd.port());
  client.say("HEAD /run/b-1 HTTP/1.1\r\n\r\n");
  CHECK(client.hear_head().find("HTTP/1.1 405 ") == 0);
  client.say("HEAD /image/vmlinuz HTTP/1.1\r\n\r\n");
  CHECK(client.hear_head().find("Content-Length: 6\r\n") != std::string::npos);
  // Had a body followed, it would be read as this answer's head.
  client.say("HEAD /boot/" + kMac + " HTTP/1.1\r\n\r\n");
  CHECK(client.hear_head().find("HTTP/1.1 200 ") == 0);
  CHECK(bootd.get("/run/b-1").status == 200);
  CHECK(bootd.claims(0)["claims"].size() == 1);
}

TEST_CASE("requests as firmware writes them (X14, X17)") {
  Bootd bootd;
  bootd.arm("b-1");
  for (const char* target :
       {"/image/vmlinuz", "//image//vmlinuz", "/image%5cvmlinuz", "/IMAGE/VMLINUZ",
        "/image/vmlinuz%ff", "/image\\vmlinuz", "/image/vmlinuz?x=1"}) {
    INFO(target);
    RawClient client(bootd.port());
    client.say(std::string("GET ") + target + " HTTP/1.1\r\n\r\n");  // no Host
    const std::string head = client.hear_head();
    CHECK(head.find("HTTP/1.1 200 ") == 0);
    CHECK(head.find("Content-Length: 6\r\n") != std::string::npos);
    CHECK(head.find("Transfer-Encoding") == std::string::npos);
    CHECK(head.size() < 256);
    CHECK(client.hear(6) == "KERNEL");
  }
  CHECK(bootd.get("/boot/52:54:00:77:00:10").status == 200);
  CHECK(bootd.get("/boot/52%3A54%3A00%3A77%3A00%3A10").status == 200);
  CHECK(bootd.get("/image/vmlinuz", "PUT").status == 405);
  CHECK(bootd.get("/").status == 404);
}

// AddressSanitizer's shadow and quarantine count as resident too; eight copies of the image would
// still be seen.
#ifdef __SANITIZE_ADDRESS__
constexpr long kResidentKib = 400 * 1024;
#else
constexpr long kResidentKib = 100 * 1024;
#endif

TEST_CASE("a large image goes to many at once in little memory") {
  Bootd bootd;
  const size_t megabytes = 64;
  std::string part(1 << 20, 'x');
  std::string whole;
  for (size_t i = 0; i < megabytes; ++i) {
    part[0] = static_cast<char>('a' + i % 26);
    whole += part;
  }
  bootd.folder.file("big", whole);
  std::vector<RawClient*> waiting;
  for (int i = 0; i < 8; ++i) {
    // These ask and do not read: what they are owed must wait on the disk, not in memory.
    waiting.push_back(new RawClient(bootd.port()));
    waiting.back()->say("GET /image/big HTTP/1.1\r\n\r\n");
    waiting.back()->hear_head();
  }
  CHECK(bootd.get("/image/big").body == whole);
  std::ifstream status("/proc/" + std::to_string(bootd.program->pid()) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.find("VmRSS:") == 0) CHECK(std::stol(line.substr(6)) < kResidentKib);
  }
  CHECK(waiting[3]->hear(whole.size()) == whole);
  // One connection goes on after a large answer; one that has shut its side down gets all of it.
  waiting[3]->say("GET /image/vmlinuz HTTP/1.1\r\n\r\n");
  waiting[3]->hear_head();
  CHECK(waiting[3]->hear(6) == "KERNEL");
  waiting[4]->shut_down();
  CHECK(waiting[4]->hear(whole.size() + 1) == whole);
  for (RawClient* client : waiting) delete client;
}

TEST_CASE("an image that shrinks ends the connection instead of passing for whole") {
  Bootd bootd;
  bootd.folder.file("big", std::string(32 << 20, 'x'));
  RawClient client(bootd.port());
  client.say("GET /image/big HTTP/1.1\r\n\r\n");
  client.hear_head();
  bootd.folder.file("big", "");
  CHECK(client.hear(32 << 20).size() < (32 << 20));
  CHECK(bootd.get("/image/vmlinuz").status == 200);
}

TEST_CASE("a poll for claims is answered when one comes") {
  Bootd bootd;
  bootd.arm("b-1");
  HttpResponse answer;
  std::thread agent([&] { answer = bootd.control("GET", "/v1/claims?after=0").value(); });
  const int status = bootd.get("/run/b-1").status;
  agent.join();
  CHECK(status == 200);
  const Json claims = parse_json(answer.body).value();
  REQUIRE(claims["claims"].size() == 1);
  CHECK(claims["claims"][0]["count"] == 1);
}

TEST_CASE("the control socket refuses what it must, by name") {
  Bootd bootd;
  bootd.arm("b-1");
  HttpResponse again = bootd.control("PUT", "/v1/armed/" + kMac, bootd.arming("b-1")).value();
  CHECK(again.status == 409);
  CHECK(parse_json(again.body).value()["field"] == "boot");
  Json absent = bootd.arming("b-2");
  absent["initrd"] = "nothing.img";
  HttpResponse refused = bootd.control("PUT", "/v1/armed/" + kMac, absent).value();
  CHECK(refused.status == 400);
  CHECK(parse_json(refused.body).value()["field"] == "initrd");
  CHECK(bootd.control("PUT", "/v1/armed/all", bootd.arming("b-3")).value().status == 400);
  CHECK(bootd.control("GET", "/v1/claims?after=x").value().status == 400);
  CHECK(bootd.control("GET", "/v1/armed/" + kMac).value().status == 404);
  CHECK(bootd.control("DELETE", "/v1/armed/" + kMac).value().status == 204);
  CHECK(bootd.control("DELETE", "/v1/armed/" + kMac).value().status == 204);
  CHECK(bootd.get("/boot/" + kMac).status == 404);
  // The machines' door arms nothing.
  CHECK(bootd.get("/v1/claims").status == 404);
  CHECK(bootd.get("/v1/armed/" + kMac, "DELETE").status == 405);
}

TEST_CASE("another user may not arm") {
  Bootd bootd({static_cast<int64_t>(::getuid()) + 1});
  Result<HttpResponse> answer = bootd.control("PUT", "/v1/armed/" + kMac, bootd.arming("b-1"));
  CHECK((!answer.ok() || answer.value().status == 403));
  CHECK(bootd.get("/boot/" + kMac).status == 404);
}

TEST_CASE("after a restart nothing is armed and the claims say so") {
  Bootd bootd;
  bootd.arm("b-1");
  bootd.get("/run/b-1");
  Json before = bootd.claims(0);
  bootd.start();
  CHECK(bootd.get("/boot/" + kMac).status == 404);
  CHECK(bootd.get("/run/b-1").status == 404);
  bootd.arm("b-2");
  bootd.get("/run/b-2");
  Json after = bootd.claims(7);  // a number of the former life
  CHECK(after["claims"].size() == 1);
  CHECK(after["incarnation"] != before["incarnation"]);
}

TEST_CASE("what keeps bootd from starting is said") {
  Bootd first;
  TemporaryFolder folder;
  Json config =
      parse_json(read_file(first.folder.path + "/config", limits::kConfigBytes).value()).value();
  auto failure = [&] {
    test::RunningProgram second(
        {LEASEHOLD_BIN_DIR "/leasehold-bootd", "--config", folder.file("config", config.dump())},
        folder.path + "/log");
    CHECK(second.wait() == 1);
    return json_text(second.find_event("program.failed"), "message");
  };
  config["control_socket"] = folder.path + "/control";
  config["listen_port"] = first.port();
  CHECK(failure().find(std::to_string(first.port())) != std::string::npos);
  config["listen_port"] = 0;
  config["listen_prot"] = 0;
  CHECK(failure().find("listen_port") != std::string::npos);
}

}  // namespace
}  // namespace leasehold
