// What a `work` row of kind "lease" says besides what every work says: the resolved profile and
// image, and until when (docs/lease.md section 2). Written by the coordinator, read by the site's
// intake and by the steps of the lease's run. Values only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace leasehold {

enum class ImageFormat { kRaw, kRawZst };
std::string_view image_format_name(ImageFormat format);  // "raw", "raw.zst"
Result<ImageFormat> image_format_from(const std::string& name);

// A deploy image: digests over the bytes served and over the raw bytes. 64 hex digits each.
struct DeployImage {
  std::string image;
  std::string url;  // https
  std::string sha256;
  ImageFormat format = ImageFormat::kRaw;
  std::string raw_sha256;
  int64_t raw_bytes = 0;

  // Exactly these members: {"image","url","sha256","format","rawSha256","rawBytes"}. INVALID_INPUT.
  static Result<DeployImage> parse(const Json& json);
  Json to_json() const;
};

enum class JoinRule { kRequired, kNone };
std::string_view join_rule_name(JoinRule rule);  // "required", "none"
Result<JoinRule> join_rule_from(const std::string& name);

// A version of a deploy profile, as a lease takes it along.
struct DeployProfile {
  std::string name;
  TenantId tenant;      // whose it is: the lessee's, or another's who made it public
  int64_t version = 0;  // 0 (null in the row): the reservation named none (R4)
  std::string role;
  std::string root_disk;  // "auto", or a glob over serial, wwn and model
  JoinRule join = JoinRule::kRequired;
  std::string user_data_sha256;  // or empty
  std::vector<std::string> ssh_keys;

  static Result<DeployProfile> parse(const Json& json);
  Json to_json() const;
};

struct LeaseTerms {
  LeaseId lease;
  std::string reservation;
  TenantId tenant;
  int64_t policy_revision = 0;
  int64_t ends_at_ms = 0;
  DeployProfile profile;
  DeployImage image;

  // Of a work row. INVALID_INPUT with the field, dotted ("profile.version").
  static Result<LeaseTerms> parse(const Json& work);
  // These members of a work row.
  Json to_json() const;
};

}  // namespace leasehold
