// The nouns `hardware-profile` and `pool`: what an operator says of kinds of machines and of what a
// lease of them asks. Files are read here; the coordinator checks what is in them.
#pragma once

#include <string>

#include "coordinator/cli/session.h"

namespace leasehold {

Status hardware_profile_import(Session& session, const std::string& file);
Status hardware_profile_list(Session& session);
Status hardware_profile_show(Session& session, const std::string& profile);

struct PoolCreateOptions {
  std::string pool;
  std::string site;
  std::string policy_file;
  std::string tenant = "root";
  std::string pool_class = "metal-dedicated";
  std::string agent = "ramdisk";
  bool allow_unvetted = false;
};
Status pool_create(Session& session, const PoolCreateOptions& options);
// `allow_unvetted` is only ever added here: without it the pool's word stays.
Status pool_set_policy(Session& session, const std::string& pool, const std::string& policy_file,
                       bool allow_unvetted);
Status pool_list(Session& session, const std::string& site);
Status pool_show(Session& session, const std::string& pool);

}  // namespace leasehold
