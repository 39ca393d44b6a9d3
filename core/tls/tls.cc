#include "core/tls/tls.h"

#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "core/tls/crypto.h"
#include "core/tls/openssl.h"
#include "core/tls/x509.h"

namespace leasehold {
namespace {

// The handshake shows that the client holds its key; whether its chain may do anything is decided
// at each request, by whoever owns the rows.
int accept_possession(X509_STORE_CTX*, void*) { return 1; }

std::vector<std::string> stack_der(const STACK_OF(X509) * stack) {
  std::vector<std::string> chain;
  for (int i = 0; i < sk_X509_num(stack); ++i) {
    chain.push_back(certificate_der(sk_X509_value(stack, i)));
  }
  return chain;
}

int judge_server(X509_STORE_CTX* ctx, void* argument) {
  const auto* policy = static_cast<const TlsClientPolicy*>(argument);
  // OpenSSL keeps the peer's whole message here, the leaf first.
  std::vector<std::string> chain = stack_der(X509_STORE_CTX_get0_untrusted(ctx));
  if (policy->judge && !chain.empty() && policy->judge(chain).ok()) {
    X509_STORE_CTX_set_error(ctx, X509_V_OK);
    return 1;
  }
  X509_STORE_CTX_set_error(ctx, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

Status use_certificate(SSL_CTX* ctx, const std::string& chain_pem, const std::string& key_pem) {
  ErrorScope errors;
  PkeyPtr key = TRY(parse_private_key(key_pem));
  std::vector<std::string> chain = TRY(pem_to_der(chain_pem));
  std::vector<X509Ptr> certificates;
  X509StackPtr above(sk_X509_new_null());
  LEASEHOLD_CHECK(above != nullptr, "out of memory");
  for (const std::string& der : chain) {
    certificates.push_back(TRY(parse_certificate(der)));
    if (certificates.size() == 1) continue;
    LEASEHOLD_CHECK(sk_X509_push(above.get(), certificates.back().get()) > 0, "out of memory");
  }
  X509* leaf = certificates.front().get();
  if (SSL_CTX_use_cert_and_key(ctx, leaf, key.get(), above.get(), 1) != 1) {
    return Error(Code::kConfig, "the certificate and the private key do not belong together");
  }
  return {};
}

// No session outlives its connection, on either side: a resumed one would skip the judge.
void forbid_resumption(SSL_CTX* ctx) {
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  LEASEHOLD_CHECK(SSL_CTX_set_num_tickets(ctx, 0) == 1, "tickets cannot be switched off");
  SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);  // send what was given and nothing else
}

void ask_client(SSL_CTX* ctx) {
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(ctx, accept_possession, nullptr);
  // A hostile client may send any key: only P-256, and no more bytes than a chain of ours has.
  LEASEHOLD_CHECK(SSL_CTX_set1_client_sigalgs_list(ctx, "ECDSA+SHA256") == 1, "no ECDSA");
  SSL_CTX_set_max_cert_list(ctx, limits::kGatewayChainBytes);
}

}  // namespace

Result<SslCtx> make_server_context(const TlsServerConfig& config) {
  ErrorScope errors;
  SslCtx ctx(SSL_CTX_new(TLS_server_method()));
  LEASEHOLD_CHECK(ctx != nullptr, "TLS is not available");
  int lowest = config.tls12_allowed ? TLS1_2_VERSION : TLS1_3_VERSION;
  LEASEHOLD_CHECK(SSL_CTX_set_min_proto_version(ctx.get(), lowest) == 1 &&
                      SSL_CTX_set_max_proto_version(ctx.get(), TLS1_3_VERSION) == 1,
                  "TLS 1.3 is not available");
  forbid_resumption(ctx.get());
  if (config.ask_client_certificate) ask_client(ctx.get());
  TRY_WITH(use_certificate(ctx.get(), config.certificate_chain_pem, config.private_key_pem),
           "server certificate");
  return ctx;
}

Status install_client_policy(SSL_CTX* ctx, const TlsClientPolicy& policy) {
  LEASEHOLD_CHECK(SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1, "TLS 1.2 is missing");
  forbid_resumption(ctx);
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(ctx, judge_server, const_cast<TlsClientPolicy*>(&policy));
  if (policy.certificate_chain_pem.empty()) return {};
  return use_certificate(ctx, policy.certificate_chain_pem, policy.private_key_pem);
}

std::vector<std::string> peer_chain_der(SSL* ssl) {
  std::vector<std::string> chain;
  X509* leaf = SSL_get0_peer_certificate(ssl);
  if (leaf == nullptr) return chain;
  std::vector<std::string> rest = stack_der(SSL_get_peer_cert_chain(ssl));
  // A client's stack holds the server's leaf, a server's stack lacks the client's (OpenSSL's
  // habit).
  if (SSL_is_server(ssl)) chain.push_back(certificate_der(leaf));
  chain.insert(chain.end(), rest.begin(), rest.end());
  return chain;
}

std::function<Status(const std::vector<std::string>&)> pin_judge(std::string leaf_sha256_hex) {
  return [pin = std::move(leaf_sha256_hex)](const std::vector<std::string>& chain) -> Status {
    if (!chain.empty() && sha256_hex(chain.front()) == pin) return {};
    return Error(Code::kRefused, "the server's certificate is not the pinned one");
  };
}

}  // namespace leasehold
