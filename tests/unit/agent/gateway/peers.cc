#include "tests/unit/agent/gateway/peers.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "core/base/clock.h"
#include "core/tls/crypto.h"
#include "core/tls/x509.h"

namespace leasehold::test {
namespace {

constexpr int kPatienceMs = 10'000;

bool readable(int fd, int within_ms) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, within_ms) == 1;
}

void be_patient(int fd) {
  const timeval patience{kPatienceMs / 1000, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

}  // namespace

FakeAgent::FakeAgent(const std::string& path) : listener_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), 8) != 0) {
    listener_.reset();
  }
}

bool FakeAgent::accept() {
  if (!readable(listener_.get(), kPatienceMs)) return false;
  connection_.reset(::accept(listener_.get(), nullptr, nullptr));
  if (connection_.valid()) be_patient(connection_.get());
  return connection_.valid();
}

bool FakeAgent::hung_up() {
  char byte = 0;
  return ::recv(connection_.get(), &byte, 1, 0) == 0;
}

std::string FakeAgent::receive(size_t count) {
  std::string text(count, '\0');
  const ssize_t got = ::recv(connection_.get(), text.data(), count, MSG_WAITALL);
  return got == static_cast<ssize_t>(count) ? text : "";
}

Json FakeAgent::hear() {
  uint32_t length = 0;
  const std::string prefix = receive(sizeof length);
  if (prefix.empty()) return nullptr;
  std::memcpy(&length, prefix.data(), sizeof length);
  length = ntohl(length);
  if (length > limits::kGatewayFrameBytes) return nullptr;
  return parse_json(receive(length)).value_or(nullptr);
}

void FakeAgent::say_raw(const std::string& frame) {
  const uint32_t length = htonl(static_cast<uint32_t>(frame.size()));
  const std::string bytes = std::string(reinterpret_cast<const char*>(&length), 4) + frame;
  ::send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void FakeAgent::reply(const Json& request, int status, const std::string& body) {
  say({{"type", "reply"}, {"conn", request["conn"]}, {"status", status}, {"body", body}});
}

bool FakeAgent::hears_nothing() { return !readable(connection_.get(), 100); }

TlsMachine::TlsMachine(uint16_t port, const std::string& chain_pem, const std::string& key_pem,
                       int version)
    : socket_(::socket(AF_INET, SOCK_STREAM, 0)), ctx_(SSL_CTX_new(TLS_client_method())) {
  SSL_CTX_set_max_proto_version(ctx_.get(), version);
  ssl_.reset(SSL_new(ctx_.get()));
  if (!chain_pem.empty()) {
    BIO* certificate = BIO_new_mem_buf(chain_pem.data(), static_cast<int>(chain_pem.size()));
    BIO* key = BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size()));
    X509* leaf = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
    EVP_PKEY* secret = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
    SSL_use_certificate(ssl_.get(), leaf);
    SSL_use_PrivateKey(ssl_.get(), secret);
    while (X509* issuer = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr)) {
      SSL_add0_chain_cert(ssl_.get(), issuer);
    }
    X509_free(leaf);
    EVP_PKEY_free(secret);
    BIO_free(certificate);
    BIO_free(key);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  be_patient(socket_.get());
  if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
  SSL_set_fd(ssl_.get(), socket_.get());
  connected_ = SSL_connect(ssl_.get()) == 1;
}

bool TlsMachine::say(const std::string& text) {
  return SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) > 0;
}

bool TlsMachine::post(const std::string& path, const std::string& body) {
  return say("POST " + path + " HTTP/1.1\r\nHost: g\r\nContent-Length: " +
             std::to_string(body.size()) + "\r\n\r\n" + body);
}

TlsMachine::Answer TlsMachine::hear() {
  std::string text;
  size_t whole = std::string::npos;
  while (text.size() < whole) {
    char part[4096];
    const int got = SSL_read(ssl_.get(), part, sizeof part);
    if (got <= 0) return {};
    text.append(part, static_cast<size_t>(got));
    const size_t head = text.find("\r\n\r\n");
    const size_t length = text.find("Content-Length: ");
    if (head == std::string::npos || length == std::string::npos) continue;
    whole = head + 4 + std::stoul(text.substr(length + 16));
  }
  return {std::stoi(text.substr(9, 3)), text.substr(text.find("\r\n\r\n") + 4)};
}

namespace {

Leaf issue(const CaKey& issuer, const Identity& identity, const Validity& validity) {
  LeafRequest request;
  request.identity = identity;
  Leaf leaf;
  leaf.key_pem = generate_key().private_key_pem;
  request.csr_pem = make_csr(leaf.key_pem).value();
  request.validity = validity;
  if (identity.kind == IdentityKind::kGateway) request.ip_addresses = {"127.0.0.1"};
  leaf.chain_pem = issue_leaf(issuer, request).value();
  leaf.leaf_der = pem_to_der(leaf.chain_pem).value().front();
  return leaf;
}

Validity a_day() {
  const int64_t now_ms = SystemClock().now_ms();
  return {now_ms - 60'000, now_ms + 24LL * 3600 * 1000};
}

CaKey an_issuing_ca() {
  return issue_issuing_ca(issue_root("example.net", a_day()).value(), "example.net", a_day())
      .value();
}

}  // namespace

Leaf gateway_leaf() {
  Identity identity;
  identity.kind = IdentityKind::kGateway;
  identity.domain = "example.net";
  identity.site = "s1";
  return issue(an_issuing_ca(), identity, a_day());
}

Leaf ramdisk_leaf() {
  const CaKey site = issue_site_ca(an_issuing_ca(), "s1", "example.net", a_day()).value();
  Identity identity;
  identity.kind = IdentityKind::kRamdisk;
  identity.domain = "example.net";
  identity.site = "s1";
  identity.node = "n1";
  identity.generation = 3;
  identity.run = "r-1";
  return issue(site, identity, a_day());
}

}  // namespace leasehold::test
