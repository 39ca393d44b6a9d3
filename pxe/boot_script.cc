#include "pxe/boot_script.h"

#include "core/base/ids.h"
#include "core/base/limits.h"

namespace leasehold {
namespace {

Result<std::string> image_field(const Json& body, const std::string& key) {
  std::string name = TRY(json_string(body, key));
  if (is_image_name(name)) return name;
  return Error(Code::kInvalidInput,
               "\"" + key + "\" must be the name of a file in the image folder", key);
}

Result<std::string> cmdline_field(const Json& body) {
  std::string text = TRY(json_string_or(body, "cmdline", ""));
  if (text.size() > limits::kBootCmdlineBytes) {
    return Error(Code::kInvalidInput,
                 "\"cmdline\" is over " + std::to_string(limits::kBootCmdlineBytes) + " bytes",
                 "cmdline");
  }
  for (char c : text) {
    // "${" and "&&" mean something to iPXE; a line break would be a command of its own.
    if (c < 0x20 || c > 0x7e || c == '$' || c == '&' || c == '|') {
      return Error(Code::kInvalidInput,
                   "\"cmdline\" may hold printable ASCII without '$', '&' and '|'", "cmdline");
    }
  }
  return text;
}

}  // namespace

bool is_image_name(std::string_view name) {
  if (name.empty() || name.size() > 255 || name[0] == '.' || name[0] == '-') return false;
  for (char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '_' || c == '+' || c == '~';
    if (!plain) return false;
  }
  return true;
}

std::string boot_script(const Arming& arming, const std::string& public_url) {
  const std::string image = public_url + "/image/";
  const std::string cmdline = arming.cmdline.empty() ? "" : arming.cmdline + " ";
  return "#!ipxe\n"
         "kernel " +
         image + arming.kernel + " initrd=" + arming.initrd + " " + cmdline +
         "leasehold.run=" + public_url + "/run/" + arming.boot +
         "\n"
         "initrd --name " +
         arming.initrd + " " + image + arming.initrd +
         "\n"
         "boot\n";
}

Result<Arming> parse_arming(const std::string& mac, const std::string& body) {
  Arming arming;
  arming.mac = TRY(normalise_mac(mac));
  Result<Json> parsed = parse_json(body, limits::kHttpBodyBytes);
  if (!parsed.ok()) return Error(Code::kInvalidInput, "the body is " + parsed.error().message);
  const Json& value = parsed.value();
  if (!value.is_object()) return Error(Code::kInvalidInput, "the body must be a JSON object");
  arming.boot = TRY(json_string(value, "boot"));
  if (!is_valid_id(arming.boot)) {
    return Error(Code::kInvalidInput, "\"boot\" must be an id", "boot");
  }
  arming.kernel = TRY(image_field(value, "kernel"));
  arming.initrd = TRY(image_field(value, "initrd"));
  arming.cmdline = TRY(cmdline_field(value));
  arming.document = dump_json(TRY(json_object(value, "document")));
  if (arming.document.size() > limits::kBootDocumentBytes) {
    return Error(Code::kInvalidInput,
                 "\"document\" is over " + std::to_string(limits::kBootDocumentBytes) + " bytes",
                 "document");
  }
  arming.seconds = TRY(json_int(value, "seconds"));
  if (arming.seconds < 1 || arming.seconds > limits::kBootSecondsMax) {
    return Error(Code::kInvalidInput,
                 "\"seconds\" must be 1 to " + std::to_string(limits::kBootSecondsMax), "seconds");
  }
  return arming;
}

}  // namespace leasehold
