#include "core/loop/tls_channel.h"

#include <openssl/bio.h>
#include <openssl/err.h>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/tls/tls.h"

namespace leasehold {

TlsChannel::TlsChannel(SSL_CTX* context)
    : ssl_(SSL_new(context)), incoming_(BIO_new(BIO_s_mem())), outgoing_(BIO_new(BIO_s_mem())) {
  LEASEHOLD_CHECK(ssl_ && incoming_ != nullptr && outgoing_ != nullptr, "out of memory");
  BIO_set_mem_eof_return(incoming_, -1);  // empty means "not yet", never the end
  BIO_set_mem_eof_return(outgoing_, -1);
  SSL_set_bio(ssl_.get(), incoming_, outgoing_);
  SSL_set_options(ssl_.get(), SSL_OP_NO_RENEGOTIATION);
  SSL_set_accept_state(ssl_.get());
}

TlsState TlsChannel::feed(std::string_view ciphertext, std::string* plaintext) {
  ERR_clear_error();
  if (!ciphertext.empty()) {
    BIO_write(incoming_, ciphertext.data(), static_cast<int>(ciphertext.size()));
  }
  char buffer[4096];
  while (true) {
    const int count = SSL_read(ssl_.get(), buffer, sizeof(buffer));  // shakes hands first
    if (count > 0) {
      plaintext->append(buffer, static_cast<size_t>(count));
      continue;
    }
    const int reason = SSL_get_error(ssl_.get(), count);
    ERR_clear_error();
    if (reason == SSL_ERROR_WANT_READ) return TlsState::kOpen;
    return reason == SSL_ERROR_ZERO_RETURN ? TlsState::kFinished : TlsState::kFailed;
  }
}

void TlsChannel::encrypt(std::string_view plaintext) {
  ERR_clear_error();
  size_t written = 0;
  if (plaintext.empty()) return;
  // Memory takes everything, so this fails only on a connection that is broken anyway; the peer
  // then gets nothing, and its time runs out.
  SSL_write_ex(ssl_.get(), plaintext.data(), plaintext.size(), &written);
  ERR_clear_error();
}

void TlsChannel::close_notify() {
  ERR_clear_error();
  if (established()) SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

std::string TlsChannel::take_outgoing() {
  std::string bytes(BIO_ctrl_pending(outgoing_), '\0');
  if (!bytes.empty()) BIO_read(outgoing_, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

bool TlsChannel::established() const { return SSL_is_init_finished(ssl_.get()) == 1; }

std::vector<std::string> TlsChannel::peer_chain() const { return peer_chain_der(ssl_.get()); }

}  // namespace leasehold
