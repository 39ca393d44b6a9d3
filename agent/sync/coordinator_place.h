// Where a site's coordinator is, and who may be it: a certificate of kind `coordinator` under our
// root, for the very host of the URL. The one judge of every connection to the centre. Values only,
// any thread.
#pragma once

#include <string>
#include <vector>

#include "core/http/message.h"
#include "core/tls/x509.h"

namespace leasehold {

struct CoordinatorPlace {
  std::string url;      // "https://coordinator.example.net:8440", nothing behind the port
  std::string host;     // of the URL: what its certificate must be for
  std::string address;  // "127.0.0.1:8440" to connect to instead, or ""
};
// INVALID_INPUT naming "url" or "address".
Result<CoordinatorPlace> parse_coordinator_place(const std::string& url,
                                                 const std::string& address);

// FORBIDDEN with the judge's reason.
Status judge_coordinator(const std::vector<std::string>& chain_der, const CoordinatorPlace& place,
                         const Anchors& anchors, int64_t instant_ms);

}  // namespace leasehold
