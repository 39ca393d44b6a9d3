// Errors of a nested member, named from the row's top: "policy.firmwareRemediation". Values only.
#pragma once

#include <string>
#include <utility>

#include "core/base/result.h"

namespace leasehold {

// The same result; an error's field gets `parent` before it.
template <class T>
Result<T> in_field(const std::string& parent, Result<T> result) {
  if (result.ok()) return result;
  std::string& field = result.error().field;
  field = field.empty() ? parent : parent + "." + field;
  return result;
}

}  // namespace leasehold
