#include "pxe/ramdisk/boot_facts.h"

#include "core/base/bytes.h"
#include "core/base/files.h"
#include "core/base/ids.h"
#include "core/base/limits.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

constexpr size_t kTokenBytes = 32;
constexpr int64_t kSchema = 1;

Result<std::string> id(const Json& object, const std::string& key) {
  std::string text = TRY(json_string(object, key));
  if (!is_valid_id(text)) return Error(Code::kInvalidInput, "\"" + key + "\" is no id", key);
  return text;
}

}  // namespace

Result<std::string> run_url_of(const std::string& cmdline) {
  constexpr std::string_view kKey = "leasehold.run=";
  size_t from = 0;
  while (from < cmdline.size()) {
    size_t to = cmdline.find_first_of(" \t\n", from);
    std::string word = cmdline.substr(from, to - from);
    if (word.rfind(kKey, 0) == 0) {
      std::string url = word.substr(kKey.size());
      if (url.rfind("http://", 0) == 0) return url;
      return Error(Code::kConfig, "leasehold.run= on the kernel's command line is no http URL");
    }
    if (to == std::string::npos) break;
    from = to + 1;
  }
  return Error(Code::kConfig, "the kernel's command line has no leasehold.run=");
}

Result<BootFacts> read_boot_facts(const Sysroot& root) {
  BootFacts facts;
  facts.run_url = TRY(run_url_of(root.text("proc/cmdline")));
  std::string image = root.path("etc/leasehold/image.json");
  Json about = TRY(read_json_file(image, limits::kConfigBytes));
  facts.site = TRY_WITH(id(about, "site"), image);
  facts.anchors.domain = TRY_WITH(json_string(about, "domain"), image);
  std::string root_file = root.path("etc/leasehold/root.pem");
  facts.anchors.root_pem = TRY(read_file(root_file, limits::kPemFileBytes));
  return facts;
}

Result<RunDocument> parse_run_document(const std::string& text, const BootFacts& facts) {
  Json json = TRY(parse_json(text, limits::kConfigBytes));
  if (TRY(json_int(json, "schema")) != kSchema) {
    return Error(Code::kInvalidInput, "the run document has another schema", "schema");
  }
  RunDocument document;
  document.site = TRY(id(json, "site"));
  document.node = TRY(id(json, "node"));
  document.run = TRY(id(json, "run"));
  document.boot = TRY(id(json, "boot"));
  if (document.site != facts.site || TRY(json_string(json, "domain")) != facts.anchors.domain) {
    return Error(Code::kForbidden, "the run document is for another site than this image");
  }
  Json gateway = TRY(json_object(json, "gateway"));
  document.gateway_host = TRY(json_string(gateway, "host"));
  document.gateway_address = TRY(json_string(gateway, "address"));
  document.gateway_port = TRY(json_int(gateway, "port"));
  if (document.gateway_port < 1 || document.gateway_port > 65535) {
    return Error(Code::kInvalidInput, "is no port", "gateway.port");
  }
  if (!is_valid_host_name(document.gateway_host)) {
    return Error(Code::kInvalidInput, "is no host name", "gateway.host");
  }
  std::string token = TRY(json_string(json, "token"));
  log_scrub(token);
  document.token = TRY_WITH(base64_decode(token), "token");
  wipe_secret(token);
  if (document.token.size() != kTokenBytes) {
    return Error(Code::kInvalidInput, "the token is not of 32 bytes", "token");
  }
  return document;
}

}  // namespace leasehold
