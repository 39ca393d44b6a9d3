// TLS contexts (OpenSSL): TLS 1.3 only between our programs, session tickets and cache off, so that
// no peer resumes past a revocation. The servers' client certificate is optional at the handshake
// and never judged there: possession of the key is proven, the chain goes to whoever decides.
// Owned by its server or client; used from that object's thread.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/http/message.h"

namespace leasehold {

struct SslCtxFree {
  void operator()(SSL_CTX* ctx) const { SSL_CTX_free(ctx); }
};
using SslCtx = std::unique_ptr<SSL_CTX, SslCtxFree>;

struct TlsServerConfig {
  std::string certificate_chain_pem;
  std::string private_key_pem;
  bool ask_client_certificate = false;
  bool tls12_allowed = false;  // only simsite's BMC, which plays other people's servers
};
Result<SslCtx> make_server_context(const TlsServerConfig& config);

// Installs `policy` into a client context: its judge replaces OpenSSL's verification. The policy
// must outlive the context's connections. TLS 1.2 is allowed (BMCs).
Status install_client_policy(SSL_CTX* ctx, const TlsClientPolicy& policy);

// Leaf first, DER.
std::vector<std::string> peer_chain_der(SSL* ssl);

// A judge that accepts exactly the leaf with this SHA-256 (hex, of the DER): for BMCs.
std::function<Status(const std::vector<std::string>&)> pin_judge(std::string leaf_sha256_hex);

}  // namespace leasehold
