#include "core/base/json.h"

#include <algorithm>
#include <vector>

template class nlohmann::basic_json<>;

namespace leasehold {
namespace {

// Builds the value and refuses what a plain parse would silently accept, in one walk over the text.
class StrictSax : public nlohmann::json_sax<Json> {
 public:
  std::string problem;
  Json value;

  bool null() override { return add(nullptr) != nullptr; }
  bool boolean(bool is) override { return add(is) != nullptr; }
  bool number_integer(number_integer_t number) override { return add(number) != nullptr; }
  bool number_unsigned(number_unsigned_t number) override { return add(number) != nullptr; }
  bool number_float(number_float_t number, const string_t&) override {
    return add(number) != nullptr;
  }
  bool string(string_t& text) override { return add(std::move(text)) != nullptr; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return enter(Json::object()); }
  bool start_array(std::size_t) override { return enter(Json::array()); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    auto [member, is_new] = open_.back()->emplace(std::move(name), nullptr);
    member_ = &*member;
    if (is_new) return true;
    problem = "duplicate key \"" + member.key().substr(0, 64) + "\"";
    return false;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    problem = "not JSON at byte " + std::to_string(position);
    return false;
  }

 private:
  // Where the value has come to lie.
  Json* add(Json&& part) {
    if (open_.empty()) {
      value = std::move(part);
      return &value;
    }
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(part));
      return &open_.back()->back();
    }
    *member_ = std::move(part);
    return member_;
  }
  bool enter(Json&& part) {
    if (open_.size() >= limits::kJsonDepth) {
      problem = "nested deeper than " + std::to_string(limits::kJsonDepth);
      return false;
    }
    open_.push_back(add(std::move(part)));
    return true;
  }
  bool leave() {
    open_.pop_back();
    return true;
  }
  std::vector<Json*> open_;  // objects and arrays that have not ended; the last grows
  Json* member_ = nullptr;   // of the innermost object: the one that its key was read of
};

bool has_float(const Json& value) {
  if (value.is_number_float()) return true;
  if (!value.is_structured()) return false;
  return std::any_of(value.begin(), value.end(), has_float);
}

Error wrong(const std::string& key, const char* type, const Json& member) {
  std::string message = member.is_null() ? "is missing" : "has the wrong type";
  return Error(Code::kInvalidInput, "\"" + key + "\" " + message + "; it must be " + type, key);
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

Result<Json> parse_json(std::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return Error(Code::kTooLarge, "JSON of " + std::to_string(text.size()) + " bytes; at most " +
                                      std::to_string(max_bytes) + " are read");
  }
  StrictSax strict;
  if (!Json::sax_parse(text.begin(), text.end(), &strict)) {
    return Error(Code::kMalformed, strict.problem.empty() ? "not JSON" : strict.problem);
  }
  return std::move(strict.value);
}

Result<Json> parse_own_json(std::string_view text) {
  Json value = Json::parse(text.begin(), text.end(), nullptr, false);
  if (value.is_discarded()) return Error(Code::kMalformed, "not JSON");
  return value;
}

Result<std::string> canonical_json(const Json& value) {
  if (has_float(value)) return Error(Code::kMalformed, "canonical JSON holds integers only");
  // The strict handler throws on bytes that are not UTF-8; the exception stays in this function.
  try {
    return value.dump(-1, ' ', false, Json::error_handler_t::strict);
  } catch (const Json::exception&) {
    return Error(Code::kMalformed, "canonical JSON must be UTF-8");
  }
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string dump_json_pretty(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

const Json& json_member(const Json& object, const std::string& key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

std::string json_text(const Json& object, const std::string& key) {
  const Json& member = json_member(object, key);
  return member.is_string() ? member.get<std::string>() : std::string();
}

Result<std::string> json_string(const Json& object, const std::string& key) {
  const Json& member = json_member(object, key);
  if (!member.is_string()) return wrong(key, "a string", member);
  return member.get<std::string>();
}

Result<int64_t> json_int(const Json& object, const std::string& key) {
  const Json& member = json_member(object, key);
  if (!member.is_number_integer()) return wrong(key, "an integer", member);
  if (member.is_number_unsigned() && member.get<uint64_t>() > INT64_MAX) {
    return Error(Code::kInvalidInput, "\"" + key + "\" is too large", key);
  }
  return member.get<int64_t>();
}

Result<bool> json_bool(const Json& object, const std::string& key) {
  const Json& member = json_member(object, key);
  if (!member.is_boolean()) return wrong(key, "true or false", member);
  return member.get<bool>();
}

Result<Json> json_object(const Json& object, const std::string& key) {
  const Json& member = json_member(object, key);
  if (!member.is_object()) return wrong(key, "an object", member);
  return member;
}

Result<Json> json_array(const Json& object, const std::string& key) {
  const Json& member = json_member(object, key);
  if (!member.is_array()) return wrong(key, "an array", member);
  return member;
}

Result<std::string> json_string_or(const Json& object, const std::string& key,
                                   const std::string& fallback) {
  if (json_member(object, key).is_null()) return fallback;
  return json_string(object, key);
}

Result<int64_t> json_int_or(const Json& object, const std::string& key, int64_t fallback) {
  if (json_member(object, key).is_null()) return fallback;
  return json_int(object, key);
}

Result<bool> json_bool_or(const Json& object, const std::string& key, bool fallback) {
  if (json_member(object, key).is_null()) return fallback;
  return json_bool(object, key);
}

Status check_keys(const Json& object, std::initializer_list<const char*> allowed,
                  const std::string& what) {
  if (!object.is_object()) return Error(Code::kInvalidInput, what + " must be a JSON object");
  for (const auto& [key, value] : object.items()) {
    if (std::find(allowed.begin(), allowed.end(), std::string_view(key)) != allowed.end()) continue;
    const char* nearest = nullptr;
    size_t best = SIZE_MAX;
    for (const char* candidate : allowed) {
      size_t distance = edit_distance(key, candidate);
      if (distance < best) {
        best = distance;
        nearest = candidate;
      }
    }
    std::string message = what + " has an unknown key \"" + key.substr(0, 64) + "\"";
    if (nearest != nullptr) message += "; did you mean \"" + std::string(nearest) + "\"?";
    return Error(Code::kInvalidInput, message, key.substr(0, 64));
  }
  return {};
}

}  // namespace leasehold
