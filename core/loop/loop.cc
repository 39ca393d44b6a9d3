#include "core/loop/loop.h"

#include <csignal>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/base/check.h"

namespace leasehold {

namespace {

struct Timer {
  uv_timer_t handle;
  uint64_t id = 0;
  std::function<void()> task;
};

void delete_timer(uv_handle_t* handle) { delete static_cast<Timer*>(handle->data); }

}  // namespace

struct Loop::Impl {
  uv_async_t wake;
  uv_signal_t signals[2];
  bool watches_signals = false;

  std::mutex mutex;
  std::vector<std::function<void()>> posted;  // under mutex

  uint64_t next_timer = 1;
  std::unordered_map<uint64_t, Timer*> timers;

  std::vector<std::function<void()>> take_posted() {
    std::lock_guard<std::mutex> lock(mutex);
    return std::exchange(posted, {});
  }
  static void on_wake(uv_async_t* handle) {
    for (auto& task : static_cast<Impl*>(handle->data)->take_posted()) {
      task();
      task = nullptr;  // what it holds is let go before the next one runs
    }
  }
  static void on_timer(uv_timer_t* handle) {
    auto* timer = static_cast<Timer*>(handle->data);
    auto* impl = static_cast<Impl*>(handle->loop->data);
    impl->timers.erase(timer->id);
    auto task = std::move(timer->task);
    uv_close(reinterpret_cast<uv_handle_t*>(&timer->handle), delete_timer);
    task();
  }
  static void on_signal(uv_signal_t* handle, int) { uv_stop(handle->loop); }
};

Loop::Loop() : impl_(new Impl) {
  // libuv writes with write(2): without this a peer that goes away would end the program.
  std::signal(SIGPIPE, SIG_IGN);
  LEASEHOLD_CHECK(uv_loop_init(&loop_) == 0, "libuv gives no loop");
  loop_.data = impl_;
  impl_->wake.data = impl_;
  LEASEHOLD_CHECK(uv_async_init(&loop_, &impl_->wake, Impl::on_wake) == 0,
                  "libuv gives no wake-up");
}

Loop::~Loop() {
  // Tasks that never ran are let go first: what they hold may own handles of this loop.
  for (auto left = impl_->take_posted(); !left.empty(); left = impl_->take_posted()) left.clear();
  while (!impl_->timers.empty()) cancel(impl_->timers.begin()->first);
  if (impl_->watches_signals) {
    for (auto& signal : impl_->signals) uv_close(reinterpret_cast<uv_handle_t*>(&signal), nullptr);
  }
  uv_close(reinterpret_cast<uv_handle_t*>(&impl_->wake), nullptr);
  // Runs the close callbacks of everything whose owner has gone before us.
  while (uv_run(&loop_, UV_RUN_NOWAIT) != 0) {
    bool open = false;
    uv_walk(
        &loop_,
        [](uv_handle_t* handle, void* found) {
          if (uv_is_closing(handle) == 0) *static_cast<bool*>(found) = true;
        },
        &open);
    LEASEHOLD_CHECK(!open, "a handle outlives its loop: destroy its owner first");
  }
  LEASEHOLD_CHECK(uv_loop_close(&loop_) == 0,
                  "a handle outlives its loop: destroy its owner first");
  delete impl_;
}

void Loop::run() { uv_run(&loop_, UV_RUN_DEFAULT); }

void Loop::stop() {
  post([this] { uv_stop(&loop_); });
}

void Loop::post(std::function<void()> task) {
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    impl_->posted.push_back(std::move(task));
  }
  uv_async_send(&impl_->wake);
}

uint64_t Loop::after(int64_t delay_ms, std::function<void()> task) {
  auto* timer = new Timer;
  timer->id = impl_->next_timer++;
  timer->task = std::move(task);
  timer->handle.data = timer;
  uv_timer_init(&loop_, &timer->handle);
  uv_update_time(&loop_);  // else the delay counts from when this round of the loop began
  const uint64_t delay = delay_ms > 0 ? static_cast<uint64_t>(delay_ms) : 0;
  uv_timer_start(&timer->handle, Impl::on_timer, delay, 0);
  impl_->timers.emplace(timer->id, timer);
  return timer->id;
}

void Loop::cancel(uint64_t timer) {
  auto found = impl_->timers.find(timer);
  if (found == impl_->timers.end()) return;
  Timer* cancelled = found->second;
  impl_->timers.erase(found);
  auto task = std::move(cancelled->task);  // its destructor may come back here
  uv_close(reinterpret_cast<uv_handle_t*>(&cancelled->handle), delete_timer);
}

void Loop::stop_on_signals() {
  LEASEHOLD_CHECK(!impl_->watches_signals, "stop_on_signals() is called once");
  impl_->watches_signals = true;
  const int numbers[2] = {SIGTERM, SIGINT};
  for (int i = 0; i < 2; i++) {
    uv_signal_init(&loop_, &impl_->signals[i]);
    uv_signal_start(&impl_->signals[i], Impl::on_signal, numbers[i]);
  }
}

}  // namespace leasehold
