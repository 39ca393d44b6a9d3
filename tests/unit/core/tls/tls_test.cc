#include "core/tls/tls.h"

#include <catch2/catch.hpp>

#include "tests/unit/core/tls/pki.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

struct SslFree {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslPtr = std::unique_ptr<SSL, SslFree>;
struct SessionFree {
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
using SessionPtr = std::unique_ptr<SSL_SESSION, SessionFree>;

// A client and a server that talk through memory, in one thread.
struct Talk {
  SslPtr client;
  SslPtr server;
  bool connected = false;
  std::string received;

  Talk(SSL_CTX* client_ctx, SSL_CTX* server_ctx, SSL_SESSION* session = nullptr)
      : client(SSL_new(client_ctx)), server(SSL_new(server_ctx)) {
    BIO* near = nullptr;
    BIO* far = nullptr;
    REQUIRE(BIO_new_bio_pair(&near, 0, &far, 0) == 1);
    SSL_set_bio(client.get(), near, near);
    SSL_set_bio(server.get(), far, far);
    SSL_set_connect_state(client.get());
    SSL_set_accept_state(server.get());
    if (session != nullptr) REQUIRE(SSL_set_session(client.get(), session) == 1);
    bool client_done = false;
    bool server_done = false;
    for (int turn = 0; turn < 20 && !(client_done && server_done); ++turn) {
      client_done = SSL_do_handshake(client.get()) == 1;
      server_done = SSL_do_handshake(server.get()) == 1;
    }
    connected = client_done && server_done;
    if (connected) exchange();
  }

  // Tickets of TLS 1.3 come after the handshake: a byte each way brings them over.
  void exchange() {
    char byte = 0;
    REQUIRE(SSL_write(server.get(), "s", 1) == 1);
    REQUIRE(SSL_read(client.get(), &byte, 1) == 1);
    REQUIRE(SSL_write(client.get(), "c", 1) == 1);
    REQUIRE(SSL_read(server.get(), &byte, 1) == 1);
    received = byte;
  }
  bool resumed() const { return SSL_session_reused(client.get()) == 1; }
};

SslCtx client_context() { return SslCtx(SSL_CTX_new(TLS_client_method())); }

// A client that tries its best to resume: it verifies nothing and keeps every session.
SslCtx eager_client(int version) {
  SslCtx ctx = client_context();
  SSL_CTX_set_verify(ctx.get(), SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_session_cache_mode(ctx.get(), SSL_SESS_CACHE_CLIENT);
  SSL_CTX_set_min_proto_version(ctx.get(), version);
  SSL_CTX_set_max_proto_version(ctx.get(), version);
  return ctx;
}

std::string pem_of(const std::vector<std::string>& chain) {
  std::string pem;
  for (const std::string& der : chain) pem += der_to_pem(der);
  return pem;
}

TlsServerConfig gateway_config(const Pki& pki) {
  TlsServerConfig config;
  config.certificate_chain_pem = pem_of(chain_for(pki, IdentityKind::kGateway));
  config.private_key_pem = pki.key.private_key_pem;
  config.ask_client_certificate = true;
  return config;
}

TlsClientPolicy accepting() {
  TlsClientPolicy policy;
  policy.judge = [](const std::vector<std::string>&) { return Status(); };
  return policy;
}

// Connects, and again with the session of the first connection.
bool second_resumes(SSL_CTX* client, SSL_CTX* server) {
  Talk first(client, server);
  REQUIRE(first.connected);
  SessionPtr session(SSL_get1_session(first.client.get()));
  // A session is only handed on after an orderly end.
  SSL_shutdown(first.client.get());
  SSL_shutdown(first.server.get());
  Talk second(client, server, session.get());
  CHECK(second.connected);
  return second.resumed();
}

}  // namespace

TEST_CASE("a client's judge sees the chain and is the only word on trust") {
  Pki pki;
  SslCtx server = make_server_context(gateway_config(pki)).value();
  std::vector<std::string> seen;
  TlsClientPolicy policy;
  policy.judge = [&](const std::vector<std::string>& chain) -> Status {
    seen = chain;
    JudgeRequest request{chain, kNowMs, Verb::kServeGateway, "gateway.s1.example.net", false};
    if (judge(request, pki.anchors()).allowed) return {};
    return Error(Code::kRefused, "no");
  };
  SslCtx client = client_context();
  REQUIRE(install_client_policy(client.get(), policy).ok());
  Talk talk(client.get(), server.get());
  REQUIRE(talk.connected);
  CHECK(seen.size() == 2);
  CHECK(seen == peer_chain_der(talk.client.get()));
  CHECK(talk.received == "c");
  CHECK(std::string(SSL_get_version(talk.server.get())) == "TLSv1.3");
  CHECK(peer_chain_der(talk.server.get()).empty());

  Pki other;
  SslCtx imposter = make_server_context(gateway_config(other)).value();
  CHECK_FALSE(Talk(client.get(), imposter.get()).connected);
}

TEST_CASE("without a judge, or with one that refuses, there is no connection") {
  Pki pki;
  SslCtx server = make_server_context(gateway_config(pki)).value();
  TlsClientPolicy none;
  SslCtx client = client_context();
  REQUIRE(install_client_policy(client.get(), none).ok());
  CHECK_FALSE(Talk(client.get(), server.get()).connected);
  TlsClientPolicy refusing;
  refusing.judge = [](const std::vector<std::string>&) -> Status {
    return Error(Code::kRefused, "no");
  };
  client = client_context();
  REQUIRE(install_client_policy(client.get(), refusing).ok());
  CHECK_FALSE(Talk(client.get(), server.get()).connected);
}

TEST_CASE("the server sees the client's chain as it was sent, and does not judge it") {
  Pki pki;
  Pki stranger;
  SslCtx server = make_server_context(gateway_config(pki)).value();
  for (const Pki* origin : {&pki, &stranger}) {
    auto chain = chain_for(*origin, IdentityKind::kRamdisk);
    TlsClientPolicy policy = accepting();
    policy.certificate_chain_pem = pem_of(chain);
    policy.private_key_pem = origin->key.private_key_pem;
    SslCtx client = client_context();
    REQUIRE(install_client_policy(client.get(), policy).ok());
    Talk talk(client.get(), server.get());
    REQUIRE(talk.connected);
    CHECK(peer_chain_der(talk.server.get()) == chain);
  }
}

TEST_CASE("a client that has a certificate but not its key is not connected") {
  Pki pki;
  TlsClientPolicy policy = accepting();
  policy.certificate_chain_pem = pem_of(chain_for(pki, IdentityKind::kRamdisk));
  policy.private_key_pem = generate_key().private_key_pem;
  SslCtx client = client_context();
  CHECK(install_client_policy(client.get(), policy).error().code == Code::kConfig);
  policy.private_key_pem = "junk";
  CHECK(install_client_policy(client.get(), policy).error().code == Code::kMalformed);
}

TEST_CASE("our servers speak TLS 1.3 only, unless they play a BMC") {
  Pki pki;
  TlsServerConfig config = gateway_config(pki);
  SslCtx old_client = eager_client(TLS1_2_VERSION);
  SslCtx strict = make_server_context(config).value();
  CHECK_FALSE(Talk(old_client.get(), strict.get()).connected);
  config.tls12_allowed = true;
  config.ask_client_certificate = false;
  SslCtx bmc = make_server_context(config).value();
  CHECK(Talk(old_client.get(), bmc.get()).connected);
}

TEST_CASE("no connection is resumed past a revocation") {
  Pki pki;
  SslCtx client13 = eager_client(TLS1_3_VERSION);
  SslCtx client12 = eager_client(TLS1_2_VERSION);
  TlsServerConfig config = gateway_config(pki);
  SslCtx server = make_server_context(config).value();
  CHECK_FALSE(second_resumes(client13.get(), server.get()));
  config.ask_client_certificate = false;
  server = make_server_context(config).value();
  CHECK_FALSE(second_resumes(client13.get(), server.get()));
  config.tls12_allowed = true;
  server = make_server_context(config).value();
  CHECK_FALSE(second_resumes(client12.get(), server.get()));
  CHECK_FALSE(second_resumes(client13.get(), server.get()));

  // The same clients do resume at a server with OpenSSL's defaults: the test can fail.
  SslCtx careless(SSL_CTX_new(TLS_server_method()));
  PkeyPtr key = parse_private_key(pki.key.private_key_pem).value();
  X509Ptr leaf = parse_certificate(chain_for(pki, IdentityKind::kGateway)[0]).value();
  REQUIRE(SSL_CTX_use_cert_and_key(careless.get(), leaf.get(), key.get(), nullptr, 1) == 1);
  CHECK(second_resumes(client13.get(), careless.get()));
  CHECK(second_resumes(client12.get(), careless.get()));
}

TEST_CASE("our client is handed no session to keep, even by a careless server") {
  Pki pki;
  SslCtx careless(SSL_CTX_new(TLS_server_method()));
  PkeyPtr key = parse_private_key(pki.key.private_key_pem).value();
  X509Ptr leaf = parse_certificate(chain_for(pki, IdentityKind::kGateway)[0]).value();
  REQUIRE(SSL_CTX_use_cert_and_key(careless.get(), leaf.get(), key.get(), nullptr, 1) == 1);
  auto sessions_kept = [&](bool with_policy) {
    int kept = 0;
    TlsClientPolicy policy = accepting();
    SslCtx client = eager_client(TLS1_3_VERSION);
    SSL_CTX_set_app_data(client.get(), &kept);
    SSL_CTX_sess_set_new_cb(client.get(), [](SSL* ssl, SSL_SESSION*) {
      ++*static_cast<int*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
      return 0;
    });
    if (with_policy) REQUIRE(install_client_policy(client.get(), policy).ok());
    CHECK(Talk(client.get(), careless.get()).connected);
    return kept;
  };
  CHECK(sessions_kept(false) > 0);
  CHECK(sessions_kept(true) == 0);
}

TEST_CASE("a pin accepts exactly one leaf") {
  Pki pki;
  auto chain = chain_for(pki, IdentityKind::kGateway);
  auto pin = pin_judge(sha256_hex(chain[0]));
  CHECK(pin(chain).ok());
  CHECK(pin({chain[0]}).ok());
  CHECK(pin({chain[1], chain[0]}).error().code == Code::kRefused);
  CHECK(pin({}).error().code == Code::kRefused);
  CHECK(pin_judge("")({}).error().code == Code::kRefused);
}

TEST_CASE("a server's certificate and key must belong together") {
  Pki pki;
  TlsServerConfig config = gateway_config(pki);
  config.private_key_pem = generate_key().private_key_pem;
  CHECK(make_server_context(config).error().code == Code::kConfig);
  config.certificate_chain_pem = "";
  CHECK(make_server_context(config).error().code == Code::kMalformed);
  CHECK(ERR_peek_error() == 0);
}
