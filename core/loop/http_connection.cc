#include "core/loop/http_connection.h"

#include <utility>

#include "core/base/limits.h"
#include "core/loop/http_response.h"

namespace leasehold {

HttpConnection::HttpConnection(Loop& loop, HttpConnectionHost& host, HttpConnectionOptions options,
                               std::unique_ptr<Stream> stream)
    : loop_(loop),
      host_(host),
      options_(std::move(options)),
      stream_(std::move(stream)),
      parser_(options_.max_body_bytes, options_.host_optional) {
  if (options_.tls != nullptr) tls_ = std::make_unique<TlsChannel>(options_.tls);
}

HttpConnection::~HttpConnection() { clear_deadline(); }

void HttpConnection::begin() {
  set_deadline(options_.idle_ms);
  listen_to_stream();
}

void HttpConnection::begin_refused(const HttpResponse& response) {
  listen_to_stream();
  if (tls_) return close(CloseManner::kPlain);  // it would take a handshake to tell
  send(serialise_response(response, ResponseForm{}));
  linger();
}

void HttpConnection::listen_to_stream() {
  Stream::Events events;
  events.on_data = [this](std::string_view bytes) { on_data(bytes); };
  events.on_drained = [this] { on_drained(); };
  events.on_end = [this](StreamEnd end) { on_end(end); };
  events.on_closed = [this] { host_.on_closed(*this); };
  stream_->begin(std::move(events));
}

void HttpConnection::on_data(std::string_view bytes) {
  if (phase_ == Phase::kLingering || phase_ == Phase::kClosed) return;
  if (tls_) {
    const bool was_established = tls_->established();
    if (!decrypt(bytes)) return;
    if (!was_established && tls_->established()) set_deadline(options_.idle_ms);
  } else {
    inbox_.append(bytes);
  }
  read_requests();
}

bool HttpConnection::decrypt(std::string_view bytes) {
  const TlsState state = tls_->feed(bytes, &inbox_);
  stream_->write(tls_->take_outgoing());
  if (state == TlsState::kOpen) return true;
  if (state == TlsState::kFailed) {
    // An alert may be on its way out; if somebody still waits for an answer, nobody reads it.
    if (phase_ == Phase::kReading) {
      linger();
    } else {
      close(CloseManner::kPlain);
    }
  } else {
    read_requests();  // close_notify may come in the same bytes as the last request
    on_end(StreamEnd::kFinished);
  }
  return false;
}

void HttpConnection::read_requests() {
  while (phase_ == Phase::kReading && !inbox_.empty()) {
    const bool was_in_request = parser_.in_request();
    size_t consumed = 0;
    const ParseOutcome outcome = parser_.feed(inbox_, &consumed);
    inbox_.erase(0, consumed);
    if (!was_in_request && parser_.in_request()) set_deadline(options_.idle_ms);
    if (outcome == ParseOutcome::kRefused) {
      return refuse(parser_.refused_status(), parser_.refused_reason());
    }
    if (outcome == ParseOutcome::kComplete) {
      dispatch();
    } else if (parser_.take_expects_continue()) {
      send("HTTP/1.1 100 Continue\r\n\r\n");
    }
  }
  if (phase_ != Phase::kClosed) stream_->pause_reading(inbox_.size() > inbox_bound());
}

void HttpConnection::dispatch() {
  clear_deadline();  // from here on it is we who owe something
  ParsedRequest parsed = parser_.take();
  ServerRequest request;
  request.connection = options_.id;
  request.method = std::move(parsed.method);
  request.path = std::move(parsed.path);
  request.query = std::move(parsed.query);
  request.headers = std::move(parsed.headers);
  request.body = std::move(parsed.body);
  request.peer_address = options_.peer_address;
  request.peer_uid = options_.peer_uid;
  if (tls_) request.peer_chain_der = tls_->peer_chain();
  head_only_ = request.method == "HEAD";
  keep_alive_ = parsed.keep_alive;
  phase_ = Phase::kHandling;
  host_.on_request(*this, ++serial_, std::move(request));
}

void HttpConnection::answer(uint64_t serial, HttpResponse response) {
  if (phase_ != Phase::kHandling || serial != serial_) return;
  response = safe_response(std::move(response));
  keep_alive_ = keep_alive_ && !asks_to_close(response);
  phase_ = Phase::kWriting;
  source_ = head_only_ ? nullptr : response.source;
  source_at_ = 0;
  send(serialise_response(std::move(response), ResponseForm{head_only_, keep_alive_}));
  if (!source_ && !keep_alive_) return linger();
  set_deadline(options_.idle_ms);
}

// One piece at a time, when the former is with the kernel: a slow peer costs one piece of memory.
void HttpConnection::send_piece() {
  Result<std::string> piece = source_->read(source_at_, limits::kHttpPieceBytes);
  // Short of its Content-Length, the answer cannot be taken for a whole one.
  if (!piece.ok()) return close(CloseManner::kPlain);
  source_at_ += piece.value().size();
  if (source_at_ >= source_->size()) source_ = nullptr;
  send(std::move(piece).value());
  if (!source_ && !keep_alive_) return linger();
  set_deadline(options_.idle_ms);
}

void HttpConnection::refuse(int status, const std::string& reason) {
  const Code code = status == 413 || status == 431 ? Code::kTooLarge
                    : status == 408                ? Code::kTimeout
                                                   : Code::kInvalidInput;
  HttpResponse response = error_response(Error(code, reason));
  response.status = status;
  send(serialise_response(std::move(response), ResponseForm{}));
  linger();
}

void HttpConnection::send(std::string plaintext) {
  if (!tls_) return stream_->write(std::move(plaintext));
  tls_->encrypt(plaintext);
  stream_->write(tls_->take_outgoing());
}

void HttpConnection::linger() {
  phase_ = Phase::kLingering;
  inbox_.clear();
  stream_->pause_reading(false);
  if (tls_) {
    tls_->close_notify();
    stream_->write(tls_->take_outgoing());
  }
  stream_->finish_writing();
  set_deadline(stream_->queued_bytes() > 0 ? options_.idle_ms : limits::kHttpLingerMs);
}

void HttpConnection::on_drained() {
  if (phase_ == Phase::kLingering) {
    if (peer_finished_) return close(CloseManner::kPlain);
    return set_deadline(limits::kHttpLingerMs);
  }
  if (phase_ != Phase::kWriting) return;
  if (source_) return send_piece();
  phase_ = Phase::kReading;
  set_deadline(options_.idle_ms);
  read_requests();
}

void HttpConnection::on_end(StreamEnd end) {
  // A peer that has said everything and shut its side down still gets the answer under way.
  peer_finished_ = end == StreamEnd::kFinished;
  if (peer_finished_ && phase_ == Phase::kWriting && source_) {
    keep_alive_ = false;
    return;
  }
  const bool writes = phase_ == Phase::kWriting || phase_ == Phase::kLingering;
  if (!peer_finished_ || !writes || stream_->queued_bytes() == 0) return close(CloseManner::kPlain);
  if (phase_ == Phase::kWriting) linger();
}

void HttpConnection::on_deadline() {
  const size_t unsent = stream_->queued_bytes();
  const bool writes = phase_ == Phase::kWriting || phase_ == Phase::kLingering;
  if (writes && unsent > 0 && unsent < unsent_at_deadline_) {
    return set_deadline(options_.idle_ms);  // slow, but it reads
  }
  const bool established = !tls_ || tls_->established();
  if (phase_ == Phase::kReading && parser_.in_request() && established) {
    return refuse(408, "the request did not arrive in time");
  }
  close(CloseManner::kPlain);
}

void HttpConnection::close(CloseManner manner) {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  clear_deadline();
  stream_->close(manner);
  host_.on_closing(*this);
}

void HttpConnection::set_deadline(int64_t delay_ms) {
  clear_deadline();
  unsent_at_deadline_ = stream_->queued_bytes();
  deadline_ = loop_.after(delay_ms, [this] {
    deadline_ = 0;
    on_deadline();
  });
}

void HttpConnection::clear_deadline() {
  if (deadline_ != 0) loop_.cancel(std::exchange(deadline_, 0));
}

// A whole further request may wait; beyond that the peer's own buffers have to.
size_t HttpConnection::inbox_bound() const {
  return limits::kHttpHeaderBytes + options_.max_body_bytes;
}

}  // namespace leasehold
