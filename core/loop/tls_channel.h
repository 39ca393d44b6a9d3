// The server's side of one TLS connection over memory: ciphertext in, plaintext out, and back. It
// judges nobody: the client's chain goes to whoever decides. Owned by one HttpConnection; loop's
// thread only. It does no input or output.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

enum class TlsState { kOpen, kFinished, kFailed };  // kFinished: the peer said close_notify

class TlsChannel {
 public:
  explicit TlsChannel(SSL_CTX* context);
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;

  // Whatever the state, take_outgoing() is to be sent afterwards (handshake, alerts).
  TlsState feed(std::string_view ciphertext, std::string* plaintext);
  void encrypt(std::string_view plaintext);  // once established
  void close_notify();
  std::string take_outgoing();

  bool established() const;
  std::vector<std::string> peer_chain() const;

 private:
  struct SslFree {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  std::unique_ptr<SSL, SslFree> ssl_;
  BIO* incoming_;  // owned by ssl_
  BIO* outgoing_;  // owned by ssl_
};

}  // namespace leasehold
