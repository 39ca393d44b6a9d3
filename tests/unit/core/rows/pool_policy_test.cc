#include "core/rows/pool_policy.h"

#include <catch2/catch.hpp>

using namespace leasehold;

namespace {

const std::string kDigest(64, 'a');

Json row() {
  return {{"table", "pool_policy"},
          {"schema", 1},
          {"pool", "p1"},
          {"revision", 2},
          {"agent", "ramdisk"},
          {"policy",
           {{"hardwareProfile", "gpu-redfish"},
            {"tenantRoot", true},
            {"firmwareBaseline", {{"bmc", "1.12.0"}, {"gpu-vbios", "96.00.5f"}}}}}};
}

Json with(const std::string& key, Json value) {
  Json changed = row();
  changed["policy"][key] = value;
  return changed;
}

std::string refused_field(const Json& json) {
  auto parsed = PoolPolicy::parse(json);
  if (parsed.ok()) return "accepted";
  CHECK(parsed.error().code == Code::kInvalidInput);
  return parsed.error().field;
}

}  // namespace

TEST_CASE("P1 to P10: the least policy and its defaults") {
  Json least = row();
  least.erase("agent");
  least["policy"] = {{"hardwareProfile", "generic"}};
  PoolPolicy policy = PoolPolicy::parse(least).value();
  CHECK(policy.pool.str() == "p1");
  CHECK(policy.agent == PoolAgent::kRamdisk);
  CHECK_FALSE(policy.tenant_root);
  CHECK(policy.firmware_baseline.empty());
  CHECK(policy.firmware_remediation == FirmwareRemediation::kQuarantine);
  CHECK_FALSE(policy.allow_unverified_release);
  CHECK(policy.firmware_reflash == FirmwareReflash::kOnDrift);
  CHECK(policy.turnaround_ms == 4LL * 3600 * 1000);
  CHECK(policy.minimum_binding == JoinBinding::kNetwork);
  CHECK(policy.wipe_minimum == WipeMinimum::kPurge);
  CHECK(policy.readback == ReadbackPolicy::kSample);
  CHECK(policy.tpm_refused == TpmRefused::kQuarantine);
  CHECK(policy.inspect_after_days == 0);
}

TEST_CASE("every word of the policy") {
  Json all = row();
  all["policy"].update({{"firmwareRemediation", "reflash"},
                        {"firmwareReflash", "always"},
                        {"turnaround", "90m"},
                        {"minimumBinding", "tpm"},
                        {"wipeMinimum", "clear"},
                        {"readback", "full"},
                        {"tpmRefused", "record"},
                        {"inspectAfterDays", 30}});
  PoolPolicy policy = PoolPolicy::parse(all).value();
  CHECK(policy.revision == 2);
  CHECK(policy.tenant_root);
  CHECK(policy.firmware_baseline.at("gpu-vbios") == "96.00.5f");
  CHECK(policy.firmware_remediation == FirmwareRemediation::kReflash);
  CHECK(policy.firmware_reflash == FirmwareReflash::kAlways);
  CHECK(policy.turnaround_ms == 90 * 60'000);
  CHECK(policy.minimum_binding == JoinBinding::kTpm);
  CHECK(policy.wipe_minimum == WipeMinimum::kClear);
  CHECK(policy.readback == ReadbackPolicy::kFull);
  CHECK(policy.tpm_refused == TpmRefused::kRecord);
  CHECK(policy.inspect_after_days == 30);
  CHECK(wipe_minimum_name(policy.wipe_minimum) == "clear");
  CHECK(join_binding_name(policy.minimum_binding) == "tpm");
  CHECK(readback_name(policy.readback) == "full");
}

TEST_CASE("P4: any other remediation is refused, and so is every unknown word or field") {
  CHECK(refused_field(with("firmwareRemediation", "ignore")) == "policy.firmwareRemediation");
  CHECK(refused_field(with("firmwareRemediation", true)) == "policy.firmwareRemediation");
  CHECK(refused_field(with("firmwareReflash", "never")) == "policy.firmwareReflash");
  CHECK(refused_field(with("minimumBinding", "none")) == "policy.minimumBinding");
  CHECK(refused_field(with("wipeMinimum", "none")) == "policy.wipeMinimum");
  CHECK(refused_field(with("readback", "none")) == "policy.readback");
  CHECK(refused_field(with("tpmRefused", "ok")) == "policy.tpmRefused");
  CHECK(refused_field(with("inspectAfterDays", -1)) == "policy.inspectAfterDays");
  CHECK(refused_field(with("inspectAfterDays", "7d")) == "policy.inspectAfterDays");
  CHECK(refused_field(with("turnaround", "4")) == "policy.turnaround");
  CHECK(refused_field(with("tenantRoot", "yes")) == "policy.tenantRoot");
  CHECK(refused_field(with("tenantroot", true)) == "policy.tenantroot");
  CHECK(refused_field(with("hardwareProfile", "")) == "policy.hardwareProfile");
  Json other = row();
  other["class"] = "metal";
  CHECK(refused_field(other) == "class");
  other = row();
  other["agent"] = "daemon";
  CHECK(refused_field(other) == "agent");
  other = row();
  other.erase("policy");
  CHECK(refused_field(other) == "policy");
}

TEST_CASE("P3: a baseline is component ids and versions that are not empty") {
  CHECK(refused_field(with("firmwareBaseline", Json::array())) == "policy.firmwareBaseline");
  CHECK(refused_field(with("firmwareBaseline", {{"bmc", ""}})) == "policy.firmwareBaseline.bmc");
  CHECK(refused_field(with("firmwareBaseline", {{"bmc", 1}})) == "policy.firmwareBaseline.bmc");
  CHECK(refused_field(with("firmwareBaseline", {{"B M", "1"}})) == "policy.firmwareBaseline.B M");
}

TEST_CASE("P5: only https with 64 hex digits counts; the rest is ignored and listed") {
  Json good = {{"url", "https://firmware.test/bios.bin"}, {"sha256", std::string(64, 'A')}};
  Json images = {{"bios", good},
                 {"plain", {{"url", "http://firmware.test/x"}, {"sha256", kDigest}}},
                 {"short", {{"url", "https://firmware.test/x"}, {"sha256", "abc"}}},
                 {"nothex", {{"url", "https://firmware.test/x"}, {"sha256", std::string(64, 'g')}}},
                 {"text", "https://firmware.test/x"},
                 {"empty", nullptr}};
  PoolPolicy policy = PoolPolicy::parse(with("firmwareImages", images)).value();
  REQUIRE(policy.firmware_images.size() == 1);
  CHECK(policy.firmware_images.at("bios").sha256 == kDigest);
  CHECK(policy.ignored_images ==
        std::vector<std::string>{"empty", "nothex", "plain", "short", "text"});
}

TEST_CASE("P6, P10: an unverified release only in an agentless pool") {
  CHECK(refused_field(with("allowUnverifiedRelease", true)) == "policy.allowUnverifiedRelease");
  Json agentless = with("allowUnverifiedRelease", true);
  agentless["agent"] = "none";
  PoolPolicy policy = PoolPolicy::parse(agentless).value();
  CHECK(policy.agent == PoolAgent::kNone);
  CHECK(policy.allow_unverified_release);
}

TEST_CASE("durations") {
  CHECK(parse_duration_ms("90s").value() == 90'000);
  CHECK(parse_duration_ms("4h").value() == 4LL * 3'600'000);
  CHECK(parse_duration_ms("7d").value() == 7LL * 86'400'000);
  CHECK(parse_duration_ms("0d").value() == 0);
  for (const char* wrong :
       {"", "4", "h", "-4h", "4 h", "4.5h", "4w", "4H", "99999999999d", "3651d", "999999999d"}) {
    CHECK(parse_duration_ms(wrong).error().code == Code::kInvalidInput);
  }
}
