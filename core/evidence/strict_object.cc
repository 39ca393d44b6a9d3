#include "core/evidence/strict_object.h"

#include "core/base/bytes.h"
#include "core/base/clock.h"

namespace leasehold {
namespace {

const Json& empty_array() {
  static const Json kEmpty = Json::array();
  return kEmpty;
}

const Json& empty_object() {
  static const Json kEmpty = Json::object();
  return kEmpty;
}

}  // namespace

StrictObject::StrictObject(const Json& object, std::string what,
                           std::initializer_list<const char*> members)
    : object_(object), what_(std::move(what)) {
  if (!object.is_object()) {
    status_ = Error(Code::kMalformed, what_ + " is no JSON object");
    return;
  }
  for (const char* key : members) {
    if (!object.contains(key)) fail(key, "is missing");
  }
  if (status_.ok() && object.size() != members.size()) {
    status_ = check_keys(object, members, what_);
    if (!status_.ok()) status_.error().code = Code::kMalformed;
  }
}

void StrictObject::fail(const char* key, const std::string& problem) {
  if (!status_.ok()) return;
  status_ = Error(Code::kMalformed, what_ + ": \"" + key + "\" " + problem, key);
}

std::string StrictObject::text(const char* key) {
  const Json& value = member(key);
  if (value.is_string()) return value.get<std::string>();
  fail(key, "is no text");
  return {};
}

std::string StrictObject::filled(const char* key) {
  std::string value = text(key);
  if (value.empty()) fail(key, "is empty");
  return value;
}

std::string StrictObject::digest(const char* key) {
  std::string value = text(key);
  if (value.size() != 64 || !hex_decode(value).ok()) fail(key, "is no SHA-256 in hex");
  return value;
}

std::string StrictObject::nonce(const char* key) {
  std::string value = filled(key);
  if (!base64_decode(value).ok()) fail(key, "is not base64");
  return value;
}

int64_t StrictObject::number(const char* key) {
  auto value = json_int(object_, key);
  if (value.ok()) return value.value();
  fail(key, "is no integer");
  return 0;
}

int64_t StrictObject::count(const char* key) {
  int64_t value = number(key);
  if (value < 0) fail(key, "is negative");
  return value;
}

bool StrictObject::flag(const char* key) {
  const Json& value = member(key);
  if (value.is_boolean()) return value.get<bool>();
  fail(key, "is neither true nor false");
  return false;
}

int64_t StrictObject::time(const char* key) {
  auto value = parse_time(text(key));
  if (value.ok()) return value.value();
  fail(key, "is no time");
  return 0;
}

const Json& StrictObject::array(const char* key) {
  const Json& value = member(key);
  if (value.is_array()) return value;
  fail(key, "is no list");
  return empty_array();
}

const Json& StrictObject::object(const char* key) {
  const Json& value = member(key);
  if (value.is_object()) return value;
  fail(key, "is no object");
  return empty_object();
}

std::vector<std::string> StrictObject::texts(const char* key) {
  std::vector<std::string> out;
  for (const Json& item : array(key)) {
    if (!item.is_string()) {
      fail(key, "holds something that is no text");
      break;
    }
    out.push_back(item.get<std::string>());
  }
  return out;
}

std::map<std::string, std::string> StrictObject::text_map(const char* key) {
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : object(key).items()) {
    if (!value.is_string()) {
      fail(key, "holds something that is no text");
      break;
    }
    out[name] = value.get<std::string>();
  }
  return out;
}

}  // namespace leasehold
