// Ids as distinct types, so that a node's id never lands where a run's belongs. An id is 1 to 63
// characters of [a-z0-9-], first one of [a-z0-9]. Values only.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace leasehold {

bool is_valid_id(std::string_view text);

template <class Tag>
class Id {
 public:
  Id() = default;
  explicit Id(std::string text) : text_(std::move(text)) {}
  // INVALID_INPUT, naming `field`, unless text has the form of an id.
  static Result<Id> parse(std::string_view text, const std::string& field) {
    if (!is_valid_id(text)) {
      return Error(Code::kInvalidInput,
                   "an id is 1 to 63 of a-z, 0-9 and '-', and starts with a letter or digit",
                   field);
    }
    return Id(std::string(text));
  }
  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  auto operator<=>(const Id&) const = default;

 private:
  std::string text_;
};

using SiteId = Id<struct SiteTag>;
using NodeId = Id<struct NodeTag>;
using LeaseId = Id<struct LeaseTag>;
using RunId = Id<struct RunTag>;
using WorkId = Id<struct WorkTag>;
using PoolId = Id<struct PoolTag>;
using TenantId = Id<struct TenantTag>;

}  // namespace leasehold
