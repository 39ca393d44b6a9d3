#include <uv.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/curl/http_client.h"
#include "core/curl/transfer.h"

namespace leasehold {

namespace {

constexpr const char* kShutDown = "the HTTP client is shut down";

// A thread that waits in send(). Its answer comes once, from whoever is first.
struct Waiter {
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<Result<HttpResponse>> answer;
  bool started = false;  // the loop has taken the call: something may have been sent

  void deliver(Result<HttpResponse> result) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!answer) answer.emplace(std::move(result));
    answered.notify_all();
  }
};

// What a posted task may still find when the client has gone.
struct Gate {
  std::mutex mutex;
  CurlMulti* client = nullptr;  // null: shut down
  std::unordered_set<Waiter*> waiting;
};

}  // namespace

struct CurlMulti::Impl {
  struct Call {
    std::unique_ptr<Transfer> transfer;
    Callback callback;
  };
  struct Watch {  // of one socket of libcurl's; lives on until libuv has let go of it
    uv_poll_t poll;
    curl_socket_t socket = CURL_SOCKET_BAD;
    Impl* impl = nullptr;
  };

  explicit Impl(Loop& loop_in) : loop(loop_in) {}

  Loop& loop;
  CURLM* multi = nullptr;
  uv_timer_t* timer = nullptr;
  std::unordered_map<CURL*, Call> calls;
  std::unordered_set<Watch*> watches;
  // Shared with posted tasks, which may run after the client has gone.
  std::shared_ptr<Gate> gate = std::make_shared<Gate>();

  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* impl, void* watch);
  static int on_timer_wanted(CURLM* multi, long delay_ms, void* impl);
  static void on_ready(uv_poll_t* poll, int status, int events);
  void watch_socket(curl_socket_t socket, Watch* watch, int what);
  void unwatch(Watch* watch);
  void act(curl_socket_t socket, int events);
  void deliver_finished();
  void shut_down();
};

int CurlMulti::Impl::on_socket(CURL*, curl_socket_t socket, int what, void* impl, void* watch) {
  auto* self = static_cast<Impl*>(impl);
  if (what == CURL_POLL_REMOVE) {
    if (watch != nullptr) self->unwatch(static_cast<Watch*>(watch));
  } else {
    self->watch_socket(socket, static_cast<Watch*>(watch), what);
  }
  return 0;
}

void CurlMulti::Impl::watch_socket(curl_socket_t socket, Watch* watch, int what) {
  if (watch == nullptr) {
    watch = new Watch;
    watch->socket = socket;
    watch->impl = this;
    watch->poll.data = watch;
    const int result = uv_poll_init_socket(loop.raw(), &watch->poll, socket);
    LEASEHOLD_CHECK(result == 0, uv_strerror(result));
    watches.insert(watch);
    curl_multi_assign(multi, socket, watch);
  }
  int events = 0;
  if (what != CURL_POLL_IN) events |= UV_WRITABLE;
  if (what != CURL_POLL_OUT) events |= UV_READABLE;
  uv_poll_start(&watch->poll, events, on_ready);
}

void CurlMulti::Impl::unwatch(Watch* watch) {
  curl_multi_assign(multi, watch->socket, nullptr);
  watches.erase(watch);
  uv_close(reinterpret_cast<uv_handle_t*>(&watch->poll),
           [](uv_handle_t* handle) { delete static_cast<Watch*>(handle->data); });
}

void CurlMulti::Impl::on_ready(uv_poll_t* poll, int status, int events) {
  auto* watch = static_cast<Watch*>(poll->data);
  int flags = 0;
  if (status < 0) flags |= CURL_CSELECT_ERR;
  if ((events & UV_READABLE) != 0) flags |= CURL_CSELECT_IN;
  if ((events & UV_WRITABLE) != 0) flags |= CURL_CSELECT_OUT;
  watch->impl->act(watch->socket, flags);
}

int CurlMulti::Impl::on_timer_wanted(CURLM*, long delay_ms, void* impl) {
  auto* self = static_cast<Impl*>(impl);
  if (delay_ms < 0) {
    uv_timer_stop(self->timer);
    return 0;
  }
  uv_update_time(self->loop.raw());
  uv_timer_start(
      self->timer,
      [](uv_timer_t* timer) { static_cast<Impl*>(timer->data)->act(CURL_SOCKET_TIMEOUT, 0); },
      static_cast<uint64_t>(delay_ms), 0);
  return 0;
}

void CurlMulti::Impl::act(curl_socket_t socket, int events) {
  int running = 0;
  curl_multi_socket_action(multi, socket, events, &running);
  deliver_finished();
}

void CurlMulti::Impl::deliver_finished() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* easy = message->easy_handle;
    const CURLcode result = message->data.result;
    curl_multi_remove_handle(multi, easy);
    auto ended = calls.extract(easy);
    LEASEHOLD_CHECK(!ended.empty(), "libcurl ended a call that we do not know");
    auto answer = ended.mapped().transfer->finish(result);
    ended.mapped().transfer.reset();
    ended.mapped().callback(std::move(answer));
  }
}

void CurlMulti::Impl::shut_down() {
  {
    std::lock_guard<std::mutex> lock(gate->mutex);
    if (gate->client == nullptr) return;
    gate->client = nullptr;
  }
  // Calls that libcurl has: each is answered by its callback, which knows what was sent.
  for (auto open = std::exchange(calls, {}); auto& [easy, call] : open) {
    curl_multi_remove_handle(multi, easy);
    auto error = call.transfer->broken_off(kShutDown);
    call.transfer.reset();
    call.callback(std::move(error));
  }
  curl_multi_cleanup(multi);
  while (!watches.empty()) {  // libcurl has closed its sockets; these are only ours
    Watch* watch = *watches.begin();
    watches.erase(watch);
    uv_close(reinterpret_cast<uv_handle_t*>(&watch->poll),
             [](uv_handle_t* handle) { delete static_cast<Watch*>(handle->data); });
  }
  uv_close(reinterpret_cast<uv_handle_t*>(timer),
           [](uv_handle_t* handle) { delete reinterpret_cast<uv_timer_t*>(handle); });
  // Calls whose task has not run, and never will if the loop has ended.
  std::lock_guard<std::mutex> lock(gate->mutex);
  for (Waiter* waiter : gate->waiting) waiter->deliver(Error(Code::kUnavailable, kShutDown));
}

CurlMulti::CurlMulti(Loop& loop) : impl_(std::make_unique<Impl>(loop)) {
  start_libcurl();
  impl_->multi = curl_multi_init();
  LEASEHOLD_CHECK(impl_->multi != nullptr, "out of memory");
  impl_->timer = new uv_timer_t;
  uv_timer_init(loop.raw(), impl_->timer);
  impl_->timer->data = impl_.get();
  impl_->gate->client = this;
  curl_multi_setopt(impl_->multi, CURLMOPT_SOCKETFUNCTION, Impl::on_socket);
  curl_multi_setopt(impl_->multi, CURLMOPT_SOCKETDATA, impl_.get());
  curl_multi_setopt(impl_->multi, CURLMOPT_TIMERFUNCTION, Impl::on_timer_wanted);
  curl_multi_setopt(impl_->multi, CURLMOPT_TIMERDATA, impl_.get());
  curl_multi_setopt(impl_->multi, CURLMOPT_MAXCONNECTS, limits::kHttpIdleConnections);
}

CurlMulti::~CurlMulti() { impl_->shut_down(); }

void CurlMulti::shut_down() { impl_->shut_down(); }

void CurlMulti::start(HttpRequest request, HttpOptions options, Callback callback) {
  const auto refuse = [&](Error error) {
    impl_->loop.post(
        [callback = std::move(callback), error = std::move(error)] { callback(error); });
  };
  if (impl_->gate->client == nullptr) return refuse(Error(Code::kUnavailable, kShutDown));
  if (impl_->calls.size() >= limits::kHttpCalls) {
    return refuse(Error(Code::kUnavailable, "too many HTTP calls are open"));
  }
  auto transfer = std::make_unique<Transfer>(std::move(request), std::move(options));
  const Status prepared = transfer->prepare();
  if (!prepared.ok()) return refuse(prepared.error());
  CURL* easy = transfer->easy();
  impl_->calls.emplace(easy, Impl::Call{std::move(transfer), std::move(callback)});
  const CURLMcode added = curl_multi_add_handle(impl_->multi, easy);
  LEASEHOLD_CHECK(added == CURLM_OK, curl_multi_strerror(added));
}

Result<HttpResponse> CurlMulti::send(const HttpRequest& request, const HttpOptions& options) {
  const auto gate = impl_->gate;
  // Shared with the task and the callback: they may come after this thread has given up waiting.
  const auto waiter = std::make_shared<Waiter>();
  {
    std::lock_guard<std::mutex> lock(gate->mutex);
    if (gate->client == nullptr) return Error(Code::kUnavailable, kShutDown);
    gate->waiting.insert(waiter.get());
    impl_->loop.post([gate, waiter, request, options] {
      // On the loop's thread, where alone the client is shut down: it stays for this task.
      CurlMulti* client = gate->client;
      if (client == nullptr) return waiter->deliver(Error(Code::kUnavailable, kShutDown));
      {
        std::lock_guard<std::mutex> waiter_lock(waiter->mutex);
        if (waiter->answer) return;  // nobody waits any more
        waiter->started = true;
      }
      client->start(request, options,
                    [waiter](Result<HttpResponse> result) { waiter->deliver(std::move(result)); });
    });
  }
  std::unique_lock<std::mutex> lock(waiter->mutex);
  const auto patience = std::chrono::milliseconds(options.timeout_ms + limits::kHttpLoopGraceMs);
  if (!waiter->answered.wait_for(lock, patience, [&] { return waiter->answer.has_value(); })) {
    // The loop stands still. Once it has taken the call, only it knows what was sent.
    const Code code = waiter->started ? Code::kTimeout : Code::kUnavailable;
    waiter->answer.emplace(Error(code, "the loop did not deliver an answer in time"));
  }
  auto answer = std::move(*waiter->answer);
  lock.unlock();
  std::lock_guard<std::mutex> gate_lock(gate->mutex);
  gate->waiting.erase(waiter.get());
  return answer;
}

}  // namespace leasehold
