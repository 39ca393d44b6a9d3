#include "core/rows/lease_terms.h"

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/rows/field.h"

namespace leasehold {
namespace {

Result<std::string> digest_of(const Json& json, const char* member) {
  std::string text = TRY(json_string(json, member));
  bool hex = text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!hex) return Error(Code::kInvalidInput, "a digest is 64 lower-case hex digits", member);
  return text;
}

Result<int64_t> at_least_one(const Json& json, const char* member) {
  int64_t value = TRY(json_int(json, member));
  if (value < 1) return Error(Code::kInvalidInput, "it is at least 1", member);
  return value;
}

Result<std::vector<std::string>> texts_of(const Json& json, const char* member) {
  const Json& list = json_member(json, member);
  std::vector<std::string> texts;
  if (!list.is_array()) return Error(Code::kInvalidInput, "it is a list of texts", member);
  for (const Json& each : list) {
    if (!each.is_string()) return Error(Code::kInvalidInput, "it is a list of texts", member);
    texts.push_back(each.get<std::string>());
  }
  return texts;
}

}  // namespace

std::string_view image_format_name(ImageFormat format) {
  return format == ImageFormat::kRaw ? "raw" : "raw.zst";
}

Result<ImageFormat> image_format_from(const std::string& name) {
  if (name == "raw") return ImageFormat::kRaw;
  if (name == "raw.zst") return ImageFormat::kRawZst;
  return Error(Code::kInvalidInput, "an image's format is \"raw\" or \"raw.zst\"", "format");
}

std::string_view join_rule_name(JoinRule rule) {
  return rule == JoinRule::kRequired ? "required" : "none";
}

Result<JoinRule> join_rule_from(const std::string& name) {
  if (name == "required") return JoinRule::kRequired;
  if (name == "none") return JoinRule::kNone;
  return Error(Code::kInvalidInput, "join is \"required\" or \"none\"", "join");
}

Result<DeployImage> DeployImage::parse(const Json& json) {
  TRY(check_keys(json, {"image", "url", "sha256", "format", "rawSha256", "rawBytes"}, "an image"));
  DeployImage image;
  image.image = TRY(json_string(json, "image"));
  image.url = TRY(json_string(json, "url"));
  if (image.url.rfind("https://", 0) != 0) {
    return Error(Code::kInvalidInput, "an image is fetched over https", "url");
  }
  image.sha256 = TRY(digest_of(json, "sha256"));
  image.format = TRY(image_format_from(TRY(json_string(json, "format"))));
  image.raw_sha256 = TRY(digest_of(json, "rawSha256"));
  image.raw_bytes = TRY(at_least_one(json, "rawBytes"));
  return image;
}

Json DeployImage::to_json() const {
  return Json{{"image", image},          {"url", url},
              {"sha256", sha256},        {"format", image_format_name(format)},
              {"rawSha256", raw_sha256}, {"rawBytes", raw_bytes}};
}

Result<DeployProfile> DeployProfile::parse(const Json& json) {
  TRY(check_keys(
      json, {"name", "tenant", "version", "role", "rootDisk", "join", "userDataSha256", "sshKeys"},
      "a profile"));
  DeployProfile profile;
  profile.name = TRY(json_string(json, "name"));
  profile.tenant = TRY(TenantId::parse(TRY(json_string(json, "tenant")), "tenant"));
  if (!json_member(json, "version").is_null()) {
    profile.version = TRY(at_least_one(json, "version"));
  }
  profile.role = TRY(json_string(json, "role"));
  profile.root_disk = TRY(json_string(json, "rootDisk"));
  profile.join = TRY(join_rule_from(TRY(json_string(json, "join"))));
  profile.user_data_sha256 = TRY(json_string(json, "userDataSha256"));
  if (!profile.user_data_sha256.empty()) TRY(digest_of(json, "userDataSha256"));
  profile.ssh_keys = TRY(texts_of(json, "sshKeys"));
  return profile;
}

Json DeployProfile::to_json() const {
  return Json{{"name", name},
              {"tenant", tenant.str()},
              {"version", version == 0 ? Json(nullptr) : Json(version)},
              {"role", role},
              {"rootDisk", root_disk},
              {"join", join_rule_name(join)},
              {"userDataSha256", user_data_sha256},
              {"sshKeys", ssh_keys}};
}

Result<LeaseTerms> LeaseTerms::parse(const Json& work) {
  LeaseTerms terms;
  terms.lease = TRY(LeaseId::parse(TRY(json_string(work, "lease")), "lease"));
  terms.reservation = TRY(json_string(work, "reservation"));
  terms.tenant = TRY(TenantId::parse(TRY(json_string(work, "tenant")), "tenant"));
  terms.policy_revision = TRY(json_int(work, "policyRevision"));
  terms.ends_at_ms = TRY(parse_time(TRY(json_string(work, "endsAt"))));
  terms.profile = TRY(in_field("profile", DeployProfile::parse(json_member(work, "profile"))));
  terms.image = TRY(in_field("image", DeployImage::parse(json_member(work, "image"))));
  return terms;
}

Json LeaseTerms::to_json() const {
  return Json{{"lease", lease.str()},
              {"reservation", reservation},
              {"tenant", tenant.str()},
              {"policyRevision", policy_revision},
              {"endsAt", format_time(ends_at_ms)},
              {"profile", profile.to_json()},
              {"image", image.to_json()}};
}

}  // namespace leasehold
