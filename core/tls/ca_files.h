// The files of `leasehold ca init` as the daemons read them: a certificate authority with its key,
// a leaf with its key, the trust anchors. Read at start, from the main thread; each error is CONFIG
// (IO where the disk is at fault) and says which file and what to do. Never writes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/tls/x509.h"

namespace leasehold {

// `pem` holds the authority's certificate and then what is above it, without the root. The key file
// must be its owner's only, and belong to the first certificate.
Result<CaKey> read_ca_key(const std::string& pem_path, const std::string& key_path);

// A leaf: its chain as TLS sends it, and its key.
struct LeafFiles {
  std::string certificate_chain_pem;
  std::string private_key_pem;
};
Result<LeafFiles> read_leaf(const std::string& pem_path, const std::string& key_path);

// `site_cas_path` is {"s1": ["<SHA-256 of the site CA's DER, hex>", ...]}; empty: none is recorded.
Result<Anchors> read_anchors(const std::string& root_path, const std::string& site_cas_path,
                             const std::string& domain);

}  // namespace leasehold
