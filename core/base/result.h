// Result<T>: a value or an Error. Every call that can fail returns one, so that each failing call
// shows on its line. No exceptions of ours cross a room. TRY unwraps or returns; context is added
// going up with Error::with. Values only, any thread.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "core/base/check.h"
#include "core/base/code.h"

namespace leasehold {

struct Error {
  Code code = Code::kInternal;
  std::string message;  // for an operator; never holds a secret
  std::string field;    // the offending field of an input, dotted ("node.profileVersion"), or empty

  Error() = default;
  Error(Code code_in, std::string message_in, std::string field_in = {})
      : code(code_in), message(std::move(message_in)), field(std::move(field_in)) {}

  // The same error with "context: " before its message.
  Error with(const std::string& context) && {
    message = context + ": " + message;
    return std::move(*this);
  }
  // "CODE: message (field ...)": one line for a terminal or a log.
  std::string text() const {
    std::string out = std::string(code_name(code)) + ": " + message;
    if (!field.empty()) out += " (field " + field + ")";
    return out;
  }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit
  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & {
    require_ok();
    return std::get<0>(state_);
  }
  const T& value() const& {
    require_ok();
    return std::get<0>(state_);
  }
  // By value: `for (auto& x : call().value())` must not outlive what it walks over.
  T value() && {
    require_ok();
    return std::get<0>(std::move(state_));
  }
  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error error() && { return std::get<1>(std::move(state_)); }
  T value_or(T other) && { return ok() ? std::get<0>(std::move(state_)) : std::move(other); }

 private:
  void require_ok() const {
    if (!ok()) check_failed(__FILE__, __LINE__, "ok()", std::get<1>(state_).text());
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT: implicit
  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  void value() const {
    if (!ok_) check_failed(__FILE__, __LINE__, "ok()", error_.text());
  }
  Error& error() & { return error_; }
  const Error& error() const& { return error_; }
  Error error() && { return std::move(error_); }

 private:
  Error error_;
  bool ok_ = true;
};

using Status = Result<void>;

}  // namespace leasehold

// auto value = TRY(call());   TRY(status_call());   They nest.
#define LEASEHOLD_TRY_NAME2(number) try_result_##number
#define LEASEHOLD_TRY_NAME(number) LEASEHOLD_TRY_NAME2(number)
#define LEASEHOLD_TRY(name, expression, context)            \
  ({                                                        \
    auto name = (expression);                               \
    if (!name.ok()) return std::move(name).error() context; \
    std::move(name).value();                                \
  })
#define TRY(expression) LEASEHOLD_TRY(LEASEHOLD_TRY_NAME(__COUNTER__), expression, )

// The same, adding context to the error.
#define TRY_WITH(expression, text) \
  LEASEHOLD_TRY(LEASEHOLD_TRY_NAME(__COUNTER__), expression, .with(text))
