#include "core/loop/frame_connection.h"

#include <utility>

#include "core/base/limits.h"

namespace leasehold {

namespace {

constexpr size_t kPrefixBytes = 4;

size_t frame_length(std::string_view prefix) {
  size_t length = 0;
  for (size_t i = 0; i < kPrefixBytes; i++) {
    length = length << 8 | static_cast<unsigned char>(prefix[i]);
  }
  return length;
}

}  // namespace

FrameConnection::FrameConnection(std::unique_ptr<Stream> stream, Events events)
    : stream_(std::move(stream)), events_(std::move(events)) {
  Stream::Events heard;
  heard.on_data = [this](std::string_view bytes) { on_data(bytes); };
  heard.on_end = [this](StreamEnd) { close(); };
  heard.on_closed = [this] {
    const auto closed = std::move(events_.on_closed);
    closed();
  };
  stream_->begin(std::move(heard));
}

Status FrameConnection::send(std::string_view frame) {
  const size_t length = frame.size();
  if (length == 0 || length > limits::kGatewayFrameBytes) {
    return Error(Code::kTooLarge, "a frame has 1 to " + std::to_string(limits::kGatewayFrameBytes) +
                                      " bytes, not " + std::to_string(length));
  }
  if (closing_) return Error(Code::kUnavailable, "the connection is closed");
  if (stream_->queued_bytes() + length > limits::kFrameQueueBytes) {
    close();
    return Error(Code::kUnavailable, "the peer does not read; its connection is closed");
  }
  std::string bytes;
  bytes.reserve(kPrefixBytes + length);
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(length >> shift & 0xff);
  bytes.append(frame);
  stream_->write(std::move(bytes));
  return {};
}

void FrameConnection::close() {
  if (closing_) return;
  closing_ = true;
  stream_->close(CloseManner::kPlain);
}

void FrameConnection::on_data(std::string_view bytes) {
  received_.append(bytes);
  size_t begin = 0;
  while (!closing_ && received_.size() - begin >= kPrefixBytes) {
    const size_t length = frame_length(std::string_view(received_).substr(begin));
    if (length == 0 || length > limits::kGatewayFrameBytes) return close();
    if (received_.size() - begin < kPrefixBytes + length) break;
    std::string frame = received_.substr(begin + kPrefixBytes, length);
    begin += kPrefixBytes + length;
    events_.on_frame(std::move(frame));
  }
  received_.erase(0, begin);
}

}  // namespace leasehold
