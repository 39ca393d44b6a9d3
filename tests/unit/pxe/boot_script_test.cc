#include "pxe/boot_script.h"

#include <catch2/catch.hpp>

#include "tests/unit/pxe/fakes.h"

namespace leasehold {
namespace {

const std::string kMac = "52:54:00:77:00:10";

Json a_body() {
  return {{"boot", "b-1"},      {"kernel", "vmlinuz"},
          {"initrd", "rd.img"}, {"cmdline", "console=ttyS0 quiet"},
          {"seconds", 900},     {"document", {{"schema", 1}, {"token", "c2VjcmV0"}}}};
}

TEST_CASE("the script is exactly the specified lines and holds no token") {
  Arming arming = parse_arming(kMac, a_body().dump()).value();
  CHECK(boot_script(arming, "http://10.0.0.1:8080") ==
        "#!ipxe\n"
        "kernel http://10.0.0.1:8080/image/vmlinuz initrd=rd.img console=ttyS0 quiet "
        "leasehold.run=http://10.0.0.1:8080/run/b-1\n"
        "initrd --name rd.img http://10.0.0.1:8080/image/rd.img\n"
        "boot\n");
}

TEST_CASE("without a command line there is no second blank") {
  Json body = a_body();
  body.erase("cmdline");
  Arming arming = parse_arming(kMac, body.dump()).value();
  CHECK(boot_script(arming, "http://h:1").find("initrd=rd.img leasehold.run=") !=
        std::string::npos);
}

TEST_CASE("an arming is read whole") {
  Arming arming = parse_arming("52-54-00-77-00-10", a_body().dump()).value();
  CHECK(arming.mac == kMac);
  CHECK(arming.boot == "b-1");
  CHECK(arming.seconds == 900);
  CHECK(arming.document == R"({"schema":1,"token":"c2VjcmV0"})");
}

TEST_CASE("a member of a later version is ignored") {
  Json body = a_body();
  body["later"] = true;
  CHECK(parse_arming(kMac, body.dump()).ok());
}

TEST_CASE("a wrong arming names its field") {
  struct Case {
    const char* field;
    Json value;
  };
  const Case cases[] = {
      {"boot", "B-1"},
      {"boot", "b-1/../x"},
      {"kernel", "../vmlinuz"},
      {"kernel", "vmlinuz\nchain http://evil"},
      {"initrd", ".hidden"},
      {"initrd", "--name"},
      {"cmdline", "a\nchain http://evil"},
      {"cmdline", "${net0/mac}"},
      {"cmdline", "a || shell"},
      {"cmdline", std::string(1501, 'a')},
      {"document", "text"},
      {"document", {{"pad", std::string(17 << 10, 'x')}}},
      {"seconds", 0},
      {"seconds", 86'401},
      {"seconds", "900"},
  };
  for (const Case& each : cases) {
    Json body = a_body();
    body[each.field] = each.value;
    INFO(each.field << " " << each.value.dump().substr(0, 60));
    Result<Arming> arming = parse_arming(kMac, body.dump());
    REQUIRE_FALSE(arming.ok());
    CHECK(arming.error().code == Code::kInvalidInput);
    CHECK(arming.error().field == each.field);
  }
}

TEST_CASE("what is no object or no MAC is refused") {
  CHECK(parse_arming(kMac, "[]").error().code == Code::kInvalidInput);
  CHECK(parse_arming(kMac, "{").error().code == Code::kInvalidInput);
  CHECK(parse_arming("all", a_body().dump()).error().field == "mac");
}

}  // namespace
}  // namespace leasehold
