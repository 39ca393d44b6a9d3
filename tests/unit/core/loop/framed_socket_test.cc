#include "core/loop/framed_socket.h"

#include <atomic>

#include "core/base/limits.h"
#include "tests/unit/core/loop/support.h"

using namespace leasehold;
using namespace leasehold::test;

namespace {

struct ListenerUnderTest {
  ListenerUnderTest(LoopThread& thread_in, FramedListenerOptions options) : thread(thread_in) {
    FramedListener::Events events;
    events.on_connect = [this](uint64_t peer) {
      last_peer = peer;
      connects++;
    };
    events.on_frame = [this](uint64_t peer, std::string frame) {
      frames++;
      sent_ok = listener->send(peer, frame).ok();
    };
    events.on_close = [this](uint64_t) { closes++; };
    thread.on_loop([&] {
      listener = std::make_unique<FramedListener>(thread.loop(), std::move(options), events);
      started = listener->start();
    });
  }
  ~ListenerUnderTest() {
    thread.on_loop([this] { listener.reset(); });
  }
  Status send(const std::string& frame) {
    Status result;
    thread.on_loop([&] { result = listener->send(last_peer, frame); });
    return result;
  }

  LoopThread& thread;
  std::unique_ptr<FramedListener> listener;
  Status started;
  bool sent_ok = false;
  std::atomic<uint64_t> last_peer{0};
  std::atomic<int> connects{0}, frames{0}, closes{0};
};

struct ClientUnderTest {
  ClientUnderTest(LoopThread& thread_in, const std::string& path) : thread(thread_in) {
    FramedClient::Events events;
    events.on_up = [this] { ups++; };
    events.on_frame = [this](std::string frame) {
      std::lock_guard<std::mutex> lock(mutex);
      last = std::move(frame);
      frames++;
    };
    events.on_down = [this] { downs++; };
    thread.on_loop([&] {
      client = std::make_unique<FramedClient>(thread.loop(), path, events);
      client->start();
    });
  }
  ~ClientUnderTest() {
    thread.on_loop([this] { client.reset(); });
  }
  Status send(const std::string& frame) {
    Status result;
    thread.on_loop([&] { result = client->send(frame); });
    return result;
  }
  std::string last_frame() {
    std::lock_guard<std::mutex> lock(mutex);
    return last;
  }

  LoopThread& thread;
  std::unique_ptr<FramedClient> client;
  std::mutex mutex;
  std::string last;
  std::atomic<int> ups{0}, downs{0}, frames{0};
};

std::string prefix(uint32_t length) {
  const uint32_t big_endian = htonl(length);
  return std::string(reinterpret_cast<const char*>(&big_endian), 4);
}

}  // namespace

TEST_CASE("frames of every size up to the bound come back whole and in order") {
  LoopThread thread;
  TempFolder folder;
  ListenerUnderTest listener(thread, {folder.file("s"), 0600, {static_cast<int64_t>(::getuid())}});
  REQUIRE(listener.started.ok());
  ClientUnderTest client(thread, folder.file("s"));
  REQUIRE(eventually([&] { return client.ups == 1; }));
  int expected = 0;
  for (size_t size : {size_t{1}, size_t{3}, size_t{65536}, limits::kGatewayFrameBytes}) {
    const std::string frame(size, static_cast<char>('a' + expected));
    REQUIRE(client.send(frame).ok());
    expected++;
    REQUIRE(eventually([&] { return client.frames == expected; }));
    CHECK(client.last_frame() == frame);
  }
  for (int i = 0; i < 100; i++) REQUIRE(client.send("n" + std::to_string(i)).ok());
  CHECK(eventually([&] { return client.frames == expected + 100; }));
  CHECK(client.last_frame() == "n99");
  CHECK(listener.connects == 1);
  CHECK(client.downs == 0);
}

TEST_CASE("a frame that arrives byte by byte is one frame; two in one write are two") {
  LoopThread thread;
  TempFolder folder;
  ListenerUnderTest listener(thread, {folder.file("s"), 0600, {}});
  RawClient raw(folder.file("s"));
  const std::string bytes = prefix(5) + "hello";
  for (char c : bytes) REQUIRE(raw.send(std::string(1, c)));
  CHECK(raw.read("hello") == bytes);
  REQUIRE(raw.send(bytes + bytes));
  CHECK(raw.read("hello" + bytes) == bytes + bytes);
  CHECK(listener.frames == 3);
}

TEST_CASE("a frame over the bound, an empty one, and anything but frames close the connection") {
  LoopThread thread;
  TempFolder folder;
  ListenerUnderTest listener(thread, {folder.file("s"), 0600, {}});
  const std::vector<std::string> bad = {prefix(limits::kGatewayFrameBytes + 1), prefix(0) + "x",
                                        "GET / HTTP/1.1\r\n\r\n", prefix(0xffffffff)};
  int closed = 0;
  for (const auto& bytes : bad) {
    RawClient raw(folder.file("s"));
    REQUIRE(raw.send(bytes));
    CHECK(raw.read() == "");
    CHECK(raw.end() != PeerEnd::kOpen);
    closed++;
    CHECK(eventually([&] { return listener.closes == closed; }));
  }
  CHECK(listener.frames == 0);
  RawClient good(folder.file("s"));
  REQUIRE(good.send(prefix(1) + "x"));
  CHECK(good.read("x") == prefix(1) + "x");
}

TEST_CASE("what may not be sent is refused and sends nothing") {
  LoopThread thread;
  TempFolder folder;
  ListenerUnderTest listener(thread, {folder.file("s"), 0600, {}});
  ClientUnderTest client(thread, folder.file("s"));
  REQUIRE(eventually([&] { return client.ups == 1; }));
  CHECK(client.send(std::string(limits::kGatewayFrameBytes + 1, 'x')).error().code ==
        Code::kTooLarge);
  CHECK(client.send("").error().code == Code::kTooLarge);
  REQUIRE(client.send("still fine").ok());
  CHECK(eventually([&] { return client.last_frame() == "still fine"; }));
  thread.on_loop(
      [&] { CHECK(listener.listener->send(4711, "x").error().code == Code::kUnavailable); });
}

TEST_CASE("a peer of another uid is closed and never heard") {
  LoopThread thread;
  TempFolder folder;
  const int64_t other = static_cast<int64_t>(::getuid()) + 1;
  ListenerUnderTest listener(thread, {folder.file("s"), 0666, {other}});
  RawClient raw(folder.file("s"));
  raw.send(prefix(1) + "x");
  raw.read();
  CHECK(raw.end() != PeerEnd::kOpen);
  CHECK(listener.connects == 0);
  CHECK(listener.frames == 0);
  CHECK(listener.closes == 0);
}

TEST_CASE("the client comes up when the listener does, and again after each loss") {
  LoopThread thread;
  TempFolder folder;
  ClientUnderTest client(thread, folder.file("s"));
  CHECK(client.send("x").error().code == Code::kUnavailable);
  {
    ListenerUnderTest listener(thread, {folder.file("s"), 0600, {}});
    REQUIRE(eventually([&] { return client.ups == 1; }));
    thread.on_loop([&] { listener.listener->close(listener.last_peer); });
    CHECK(eventually([&] { return client.downs == 1 && listener.closes == 1; }));
    REQUIRE(eventually([&] { return client.ups == 2; }));
    thread.on_loop([&] { client.client->drop(); });
    CHECK(eventually([&] { return client.downs == 2 && listener.closes == 2; }));
    REQUIRE(eventually([&] { return client.ups == 3; }));
  }
  CHECK(eventually([&] { return client.downs == 3; }));
  CHECK(client.send("x").error().code == Code::kUnavailable);
  ListenerUnderTest listener(thread, {folder.file("s"), 0600, {}});
  REQUIRE(eventually([&] { return client.ups == 4; }));
  REQUIRE(client.send("again").ok());
  CHECK(eventually([&] { return client.last_frame() == "again"; }));
}

TEST_CASE("a peer that does not read is closed when its queue is full") {
  LoopThread thread;
  TempFolder folder;
  ListenerUnderTest listener(thread, {folder.file("s"), 0600, {}});
  RawClient raw(folder.file("s"));
  REQUIRE(eventually([&] { return listener.connects == 1; }));
  const std::string frame(limits::kGatewayFrameBytes, 'x');
  size_t taken = 0;
  Status sent;
  while (taken < 64 && (sent = listener.send(frame)).ok()) taken++;
  REQUIRE_FALSE(sent.ok());
  CHECK(sent.error().code == Code::kUnavailable);
  CHECK(taken >= limits::kFrameQueueBytes / (frame.size() + 4));
  CHECK(taken <= limits::kFrameQueueBytes / frame.size() + 2);  // and what the kernel took
  CHECK(eventually([&] { return listener.closes == 1; }));
}

TEST_CASE("a second listener on a live socket is refused, a stale file is replaced") {
  LoopThread thread;
  TempFolder folder;
  const std::string path = folder.file("s");
  {
    ListenerUnderTest first(thread, {path, 0600, {}});
    REQUIRE(first.started.ok());
    ListenerUnderTest second(thread, {path, 0600, {}});
    REQUIRE_FALSE(second.started.ok());
    CHECK(second.started.error().code == Code::kConfig);
    CHECK(second.started.error().message.find(path + " is in use") == 0);
    RawClient raw(path);  // the first one still answers
    REQUIRE(raw.send(prefix(1) + "x"));
    CHECK(raw.read("x") == prefix(1) + "x");
  }
  CHECK_FALSE(std::filesystem::exists(path));
  {
    FileDescriptor dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    REQUIRE(::bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  }
  REQUIRE(std::filesystem::exists(path));
  ListenerUnderTest third(thread, {path, 0600, {}});
  CHECK(third.started.ok());
}
