// One connection of an HttpServer: reads a request, hands it to its host, writes the answer, and
// again. Owned by the server's Impl; loop's thread only. Answers come by id and serial, so that
// nobody holds a pointer to it. It never decides whom to serve.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/http/message.h"
#include "core/loop/http_parser.h"
#include "core/loop/http_server.h"
#include "core/loop/stream.h"
#include "core/loop/tls_channel.h"

namespace leasehold {

class HttpConnection;

class HttpConnectionHost {
 public:
  virtual ~HttpConnectionHost() = default;
  // `serial` goes back with the answer. May answer or close before it returns.
  virtual void on_request(HttpConnection& connection, uint64_t serial, ServerRequest request) = 0;
  // It takes no more answers; it is destroyed after on_closed() only.
  virtual void on_closing(HttpConnection& connection) = 0;
  virtual void on_closed(HttpConnection& connection) = 0;  // from a fresh stack; may destroy it
};

struct HttpConnectionOptions {
  uint64_t id = 0;
  size_t max_body_bytes = 0;
  bool host_optional = false;
  int64_t idle_ms = 0;
  SSL_CTX* tls = nullptr;  // none: plain
  std::string peer_address;
  int64_t peer_uid = -1;
};

class HttpConnection {
 public:
  HttpConnection(Loop& loop, HttpConnectionHost& host, HttpConnectionOptions options,
                 std::unique_ptr<Stream> stream);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void begin();
  // Instead of begin(): says why and closes, without reading any request.
  void begin_refused(const HttpResponse& response);
  void answer(uint64_t serial, HttpResponse response);
  void close(CloseManner manner);

  uint64_t id() const { return options_.id; }
  const HttpConnectionOptions& options() const { return options_; }

 private:
  // kLingering: everything is said; a moment for the peer to read it before the close, because
  // closing on unread bytes would reset the connection and take the answer with it.
  enum class Phase { kReading, kHandling, kWriting, kLingering, kClosed };

  void on_data(std::string_view bytes);
  void on_drained();
  void on_end(StreamEnd end);
  void on_deadline();
  bool decrypt(std::string_view bytes);  // into inbox_; false: the connection has ended
  void read_requests();
  void dispatch();
  void refuse(int status, const std::string& reason);
  void send(std::string plaintext);
  void send_piece();
  void listen_to_stream();
  void linger();
  void set_deadline(int64_t delay_ms);
  void clear_deadline();
  size_t inbox_bound() const;

  Loop& loop_;
  HttpConnectionHost& host_;
  const HttpConnectionOptions options_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<TlsChannel> tls_;
  HttpParser parser_;
  Phase phase_ = Phase::kReading;
  std::string inbox_;  // received and not parsed yet: later requests wait here
  uint64_t serial_ = 0;
  std::shared_ptr<BodySource> source_;  // of the answer under way, until its last piece
  size_t source_at_ = 0;
  bool head_only_ = false;
  bool keep_alive_ = false;
  bool peer_finished_ = false;
  uint64_t deadline_ = 0;
  size_t unsent_at_deadline_ = 0;  // what was unsent when the deadline of a write was last set
};

}  // namespace leasehold
