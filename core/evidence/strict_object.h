// Reads one JSON object that must have exactly the named members, each of its type: evidence has
// one form, and a member that nobody judges must not ride along under a signature. The first fault
// is kept; the caller asks for status() once, after reading. A local of its parser, one thread.
#pragma once

#include <array>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace leasehold {

// An enum's words in JSON.
template <class E, size_t N>
using Words = std::array<std::pair<E, std::string_view>, N>;

template <class E, size_t N>
std::string_view word_of(const Words<E, N>& words, E value) {
  for (const auto& [each, word] : words) {
    if (each == value) return word;
  }
  return "?";
}

class StrictObject {
 public:
  // `object` must outlive this. `what` names it in errors.
  StrictObject(const Json& object, std::string what, std::initializer_list<const char*> members);

  std::string text(const char* key);
  std::string filled(const char* key);  // not empty
  std::string digest(const char* key);  // 64 lower-case hex digits
  std::string nonce(const char* key);   // base64, not empty; stays text
  int64_t count(const char* key);       // not negative
  int64_t number(const char* key);
  bool flag(const char* key);
  int64_t time(const char* key);  // milliseconds
  std::vector<std::string> texts(const char* key);
  std::map<std::string, std::string> text_map(const char* key);
  const Json& array(const char* key);
  const Json& object(const char* key);

  template <class E, size_t N>
  E word(const char* key, const Words<E, N>& words) {
    std::string found = text(key);
    for (const auto& [value, each] : words) {
      if (each == found) return value;
    }
    fail(key, "has an unknown word");
    return E{};
  }
  template <class T>
  T nested(const char* key, Result<T> (*parse)(const Json&)) {
    return keep(key, parse(object(key)));
  }
  template <class T>
  std::vector<T> list(const char* key, Result<T> (*parse)(const Json&)) {
    std::vector<T> out;
    for (const Json& item : array(key)) {
      out.push_back(keep(key, parse(item)));
      if (!status_.ok()) break;
    }
    return out;
  }

  void fail(const char* key, const std::string& problem);
  // MALFORMED, naming the member.
  const Status& status() const { return status_; }

 private:
  const Json& member(const char* key) const { return json_member(object_, key); }
  template <class T>
  T keep(const char* key, Result<T> result) {
    if (result.ok()) return std::move(result).value();
    fail(key, "is wrong: " + result.error().message);
    return T{};
  }

  const Json& object_;
  std::string what_;
  Status status_;
};

}  // namespace leasehold
