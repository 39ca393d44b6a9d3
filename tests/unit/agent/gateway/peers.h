// The two sides of the gateway as the tests play them, with plain sockets and OpenSSL rather than
// our own classes: an agent that speaks frames, a machine that speaks TLS and says what it likes.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/files.h"
#include "core/base/json.h"

namespace leasehold::test {

// Each wait ends after ten seconds with an empty or null answer.
class FakeAgent {
 public:
  explicit FakeAgent(const std::string& path);
  // Takes the gateway's connection in place of the former; false if none comes.
  bool accept();
  void hang_up() { connection_.reset(); }
  bool hung_up();  // whether the gateway has ended the connection
  Json hear();
  void say(const Json& frame) { say_raw(frame.dump()); }
  void say_raw(const std::string& frame);
  void reply(const Json& request, int status, const std::string& body);
  // True if the gateway says nothing for a short while.
  bool hears_nothing();

 private:
  std::string receive(size_t count);
  FileDescriptor listener_;
  FileDescriptor connection_;
};

class TlsMachine {
 public:
  // `chain_pem` and `key_pem`: the client certificate, or empty. `version`: TLS1_3_VERSION.
  TlsMachine(uint16_t port, const std::string& chain_pem, const std::string& key_pem,
             int version = TLS1_3_VERSION);
  bool connected() const { return connected_; }
  bool resumed() const { return SSL_session_reused(ssl_.get()) != 0; }
  bool say(const std::string& text);
  bool post(const std::string& path, const std::string& body);
  // A whole answer: its status and body; status 0 if the connection ended instead.
  struct Answer {
    int status = 0;
    std::string body;
  };
  Answer hear();
  // True once the server has ended the connection.
  bool ended() { return hear().status == 0; }

 private:
  struct Free {
    void operator()(SSL_CTX* ctx) const { SSL_CTX_free(ctx); }
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  FileDescriptor socket_;
  std::unique_ptr<SSL_CTX, Free> ctx_;
  std::unique_ptr<SSL, Free> ssl_;
  bool connected_ = false;
};

// A certificate with its key, as PEM, and its leaf as DER.
struct Leaf {
  std::string chain_pem;
  std::string key_pem;
  std::string leaf_der;
};
Leaf gateway_leaf();
Leaf ramdisk_leaf();

}  // namespace leasehold::test
