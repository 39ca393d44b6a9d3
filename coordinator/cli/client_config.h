// The command's configuration (docs/coordinator-api.md section 3), and the files it names, read and
// held against each other before anything is sent: whoever has the wrong root or an expired
// certificate reads that, not an error of the TLS library. Read once per command.
#pragma once

#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/tls/x509.h"

namespace leasehold {

struct ClientConfig {
  std::string file;     // where it was read
  std::string url;      // "https://host:port", without a final slash
  std::string host;     // of the url: what the coordinator's certificate must say
  std::string address;  // "127.0.0.1:8440" to connect to, or ""
  std::string domain;
  std::string root_file;
  std::string certificate_file;
  std::string root_pem;
  std::string certificate_chain_pem;
  std::string private_key_pem;
  Judgement own;  // of our own certificate: identity, end

  Anchors anchors() const { return {root_pem, domain, {}}; }
};

// `given` (--config), else $LEASEHOLD_CONFIG, else ~/.config/leasehold/config.json.
std::string client_config_path(const std::string& given);

// CONFIG, saying which file is wrong and what to do.
Result<ClientConfig> read_client_config(const std::string& path, Clock& clock);

// Only the members that `evidence verify` needs; the certificate may be missing or expired.
struct TrustConfig {
  std::string root_file;
  std::string domain;
};
Result<TrustConfig> read_trust_config(const std::string& path);

}  // namespace leasehold
