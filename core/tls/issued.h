// Issuing with what is to be kept of the certificate (declared beside x509.h, so that only the
// authority at the centre sees it). As issue_leaf and issue_site_ca, without reading the result
// again.
#pragma once

#include <string>

#include "core/tls/x509.h"

namespace leasehold {

struct IssuedChain {
  std::string pem;  // the certificate and the chain above it, without the root
  CertificateFacts facts;
};
Result<IssuedChain> issue_leaf_chain(const CaKey& issuer, const LeafRequest& request);
Result<IssuedChain> issue_site_ca_chain(const CaKey& issuing, const SiteCaRequest& request);

}  // namespace leasehold
