// One question to a database, answered. Tests only.
#pragma once

#include <functional>

#include "core/db/database.h"

namespace leasehold::test {

// Throws if it fails.
template <class T>
T read_from(Database& database, const std::function<Result<T>(Sql&)>& query) {
  T value;
  database
      .transact_and_wait([&](Sql& sql) -> Status {
        value = TRY(query(sql));
        return {};
      })
      .value();
  return value;
}

}  // namespace leasehold::test
