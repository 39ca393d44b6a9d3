// What the parts of the coordinator share: its configuration, its authority, time and chance. Built
// by main(), never changed afterwards. Any thread.
#pragma once

#include <string>

#include "coordinator/authority/certificate_authority.h"
#include "coordinator/config.h"
#include "core/base/clock.h"

namespace leasehold {

struct CentreContext {
  const CoordinatorConfig* config = nullptr;
  const CertificateAuthority* authority = nullptr;
  Clock* clock = nullptr;
  Random* random = nullptr;
  std::string start;  // names this life of this process: sites say hello to each
};

// Topics of waiting calls; of the last one the API itself takes notice.
inline std::string events_topic() { return "events"; }
inline std::string work_topic(const std::string& work) { return "work " + work; }
inline std::string stream_topic(const std::string& site) { return "stream " + site; }
inline std::string site_cas_topic() { return "site-cas"; }

}  // namespace leasehold
