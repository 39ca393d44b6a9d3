#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/code.h"
#include "core/base/files.h"
#include "core/base/ids.h"
#include "core/base/log.h"
#include "core/base/subprocess.h"
#include "tests/support/temp_folder.h"

using namespace leasehold;

TEST_CASE("base64 has one text for one value") {
  CHECK(base64_encode("abcd") == "YWJjZA==");
  CHECK(base64_decode("YWJjZA==").value() == "abcd");
  for (const char* text : {"YWJjZB==", "YWJjZA=", "YWJj ZA=", "YWJjZA", "=AAA", "YWJjZP8="}) {
    INFO(text);
    bool slack_free =
        base64_decode(text).ok() && base64_encode(base64_decode(text).value()) == text;
    CHECK((!base64_decode(text).ok() || slack_free));
  }
  CHECK_FALSE(base64_decode("YWJjZB==").ok());
  for (int length = 0; length < 70; ++length) {
    std::string bytes(static_cast<size_t>(length), '\xfe');
    CHECK(base64_decode(base64_encode(bytes)).value() == bytes);
  }
  CHECK(hex_decode("00ff").value() == std::string("\0\xff", 2));
  CHECK_FALSE(hex_decode("0F").ok());
  CHECK_FALSE(hex_decode("0").ok());
}

TEST_CASE("a known secret is scrubbed from whatever goes out") {
  log_scrub("s3cret-word");
  CHECK(scrubbed("the BMC said s3cret-word twice: s3cret-word") ==
        "the BMC said [secret] twice: [secret]");
  CHECK(scrubbed("nothing here") == "nothing here");
}

TEST_CASE("codes have a name, a line for the operator, and a way back") {
  CHECK(code_name(Code::kFirmwareDrift) == "FIRMWARE_DRIFT");
  CHECK(code_from_name("FIRMWARE_DRIFT") == Code::kFirmwareDrift);
  CHECK(is_run_code(Code::kFirmwareDrift));
  CHECK_FALSE(is_run_code(Code::kIo));
  CHECK_FALSE(code_from_name("nonsense").has_value());
  for (int i = 0; i <= static_cast<int>(Code::kInternal); ++i) {
    CHECK(code_from_name(code_name(static_cast<Code>(i))) == static_cast<Code>(i));
    CHECK_FALSE(code_next(static_cast<Code>(i)).empty());
  }
}

TEST_CASE("ids have one form") {
  for (const char* good : {"a", "0", "rack-a1", "r-0123"}) CHECK(is_valid_id(good));
  for (const char* bad : {"", "-a", "A", "a_b", "a/b", "a b", "ä"}) CHECK_FALSE(is_valid_id(bad));
  CHECK_FALSE(is_valid_id(std::string(64, 'a')));
  CHECK(is_valid_id(std::string(63, 'a')));
}

TEST_CASE("times go there and back") {
  CHECK(format_time(0) == "1970-01-01T00:00:00.000Z");
  CHECK(parse_time("2026-11-29T16:31:21.004Z").value() % 1000 == 4);
  for (const char* bad :
       {"2026-11-29T16:31:21Z", "2026-13-29T16:31:21.004Z", "x", "2026-11-29T16:31:21.004Zjunk"}) {
    CHECK_FALSE(parse_time(bad).ok());
  }
}

TEST_CASE("a file is written whole, and a secret's must be its owner's alone") {
  test::TempFolder folder;
  std::string path = folder.file("secret");
  REQUIRE(write_file_atomic(path, "word\n", 0600).ok());
  CHECK(read_secret_file(path, 100).value() == "word");
  ::chmod(path.c_str(), 0644);
  CHECK(read_secret_file(path, 100).error().code == Code::kConfig);
  CHECK(read_file(path, 2).error().code == Code::kTooLarge);
  CHECK(read_file(folder.file("none"), 2).error().code == Code::kIo);
  CHECK(write_file_atomic(folder.file("no/such/folder"), "x", 0600).error().code == Code::kIo);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("what is no regular file is refused at once, a FIFO without a writer too") {
  test::TempFolder folder;
  std::string fifo = folder.file("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  for (const std::string& path : {fifo, folder.path(), std::string("/dev/zero")}) {
    CHECK(read_file(path, 1000).error().code == Code::kIo);
  }
  CHECK(read_secret_file(fifo, 1000).error().code == Code::kIo);
  CHECK(read_file("/proc/self/stat", 4096).ok());
}

TEST_CASE("a subprocess is bounded in time, output and environment") {
  SubprocessOutcome done =
      run_subprocess({{"sh", "-c", "echo out; echo err >&2; exit 3"}, {}, 5'000}).value();
  CHECK(done.exit_code == 3);
  CHECK(done.out == "out\n");
  CHECK(done.err == "err\n");
  CHECK(run_subprocess({{"no-such-program-here"}, {}, 1'000}).error().code == Code::kUnsupported);
  CHECK(run_subprocess({{"sh", "-c", "sleep 60 & sleep 60"}, {}, 200}).error().code ==
        Code::kTimeout);
  CHECK(run_subprocess({{"sh", "-c", "yes"}, {}, 20'000}).error().code == Code::kTooLarge);
  ::setenv("LEASEHOLD_SECRET_TEST", "x", 1);
  CHECK(run_subprocess({{"env"}, {}, 5'000}).value().out.find("LEASEHOLD_SECRET_TEST") ==
        std::string::npos);
}
