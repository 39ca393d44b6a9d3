#include "core/loop/loop.h"

#include <csignal>
#include <thread>

#include "tests/unit/core/loop/support.h"

using namespace leasehold;
using namespace leasehold::test;

TEST_CASE("tasks posted before run() run, in order, and stop() comes in its turn") {
  Loop loop;
  std::string order;
  loop.post([&] { order += "a"; });
  loop.post([&] { order += "b"; });
  loop.stop();
  loop.run();
  CHECK(order == "ab");
}

TEST_CASE("a task posted by a task runs, and a loop may run again after stop()") {
  Loop loop;
  int ran = 0;
  loop.post([&] {
    loop.post([&] {
      ran++;
      loop.stop();
    });
  });
  loop.run();
  CHECK(ran == 1);
  loop.post([&] {
    ran++;
    loop.stop();
  });
  loop.run();
  CHECK(ran == 2);
}

TEST_CASE("tasks posted by many threads all run on the loop's thread, each thread's in order") {
  Loop loop;
  constexpr int kThreads = 8, kEach = 500;
  std::vector<int> last(kThreads, -1);
  int ran = 0, wrong = 0;
  const auto here = std::this_thread::get_id();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; i++) {
        loop.post([&, t, i] {
          if (std::this_thread::get_id() != here || last[t] != i - 1) wrong++;
          last[t] = i;
          if (++ran == kThreads * kEach) loop.stop();
        });
      }
    });
  }
  loop.run();
  for (auto& thread : threads) thread.join();
  CHECK(ran == kThreads * kEach);
  CHECK(wrong == 0);
}

TEST_CASE("timers fire once, in the order of their delays, never early; a cancelled one does not") {
  Loop loop;
  std::string order;
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the loop's own time is stale now
  int64_t first_after = -1;
  const auto armed = std::chrono::steady_clock::now();
  loop.after(30, [&] {
    order += "b";
    loop.stop();
  });
  const uint64_t cancelled = loop.after(5, [&] { order += "x"; });
  loop.after(10, [&] {
    first_after = elapsed_ms(armed);
    order += "a";
  });
  loop.cancel(cancelled);
  loop.cancel(cancelled);  // unknown by now: ignored
  loop.cancel(4711);
  loop.run();
  CHECK(order == "ab");
  CHECK(first_after >= 9);  // libuv counts whole milliseconds
  CHECK(elapsed_ms(begin) >= 48);
}

TEST_CASE("a timer may cancel itself and others, and arm new ones") {
  Loop loop;
  std::string order;
  uint64_t self = 0, other = 0;
  other = loop.after(2, [&] { order += "x"; });
  self = loop.after(1, [&] {
    order += "a";
    loop.cancel(self);
    loop.cancel(other);
    loop.after(0, [&] {
      order += "b";
      loop.stop();
    });
  });
  loop.run();
  CHECK(order == "ab");
}

TEST_CASE("a loop is destroyed with tasks and timers open, and lets go of what they hold") {
  auto held = std::make_shared<int>(1);
  {
    Loop loop;
    loop.post([held] {});
    loop.after(60'000, [held] {});
    CHECK(held.use_count() == 3);
  }
  CHECK(held.use_count() == 1);
}

TEST_CASE("SIGTERM stops a loop that asked for it") {
  Loop loop;
  loop.stop_on_signals();
  bool told = false, after = false;
  loop.post([&] {
    told = true;
    ::raise(SIGTERM);
  });
  loop.after(5'000, [&] { after = true; });
  loop.run();
  CHECK(told);
  CHECK_FALSE(after);  // it came back for the signal, not because nothing was left to do
}
