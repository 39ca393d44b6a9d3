#include "agent/engine/step_threads.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "core/base/check.h"
#include "core/base/limits.h"

namespace leasehold {
namespace {

// Sanitizers put red zones between variables; their stacks need more room.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kStackBytes = limits::kStepStackBytes * 8;
#else
constexpr size_t kStackBytes = limits::kStepStackBytes;
#endif

// An overflowing stack must still be able to say which run it was (crash_record.h).
class SignalStack {
 public:
  SignalStack() : bytes_(32 << 10) {
    stack_t stack{};
    stack.ss_sp = bytes_.data();
    stack.ss_size = bytes_.size();
    installed_ = ::sigaltstack(&stack, &former_) == 0;
  }
  ~SignalStack() {
    if (installed_) ::sigaltstack(&former_, nullptr);
  }

 private:
  std::vector<char> bytes_;
  stack_t former_{};
  bool installed_ = false;
};

}  // namespace

struct StepThreadPool::Impl {
  std::mutex mutex;
  std::condition_variable work;   // a task came, or the end
  std::condition_variable quiet;  // nothing runs and nothing waits
  std::deque<std::function<void()>> tasks;
  std::vector<pthread_t> threads;
  size_t idle = 0;
  size_t busy = 0;
  bool stopping = false;

  static void* body(void* self) {
    SignalStack signal_stack;
    static_cast<Impl*>(self)->serve();
    return nullptr;
  }

  void serve() {
    std::unique_lock lock(mutex);
    while (true) {
      ++idle;
      work.wait(lock, [this] { return stopping || !tasks.empty(); });
      --idle;
      if (tasks.empty()) return;
      std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      ++busy;
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
      --busy;
      if (busy == 0 && tasks.empty()) quiet.notify_all();
    }
  }

  // Signals for the process go to the loop's thread; faults come to the thread that made them.
  void add_thread() {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    sigset_t others, former;
    sigfillset(&others);
    for (int fault : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&others, fault);
    pthread_sigmask(SIG_SETMASK, &others, &former);
    pthread_t thread;
    int failed = pthread_create(&thread, &attributes, &Impl::body, this);
    pthread_sigmask(SIG_SETMASK, &former, nullptr);
    pthread_attr_destroy(&attributes);
    if (failed == 0) threads.push_back(thread);
    // Without a new thread the tasks wait for the present ones; without any nothing ever runs.
    LEASEHOLD_CHECK(!threads.empty(), "the system gives no thread for steps");
  }
};

StepThreadPool::StepThreadPool() : impl_(std::make_unique<Impl>()) {}

StepThreadPool::~StepThreadPool() {
  drain();
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->work.notify_all();
  for (pthread_t thread : impl_->threads) pthread_join(thread, nullptr);
}

void StepThreadPool::start(std::function<void()> task) {
  std::lock_guard lock(impl_->mutex);
  impl_->tasks.push_back(std::move(task));
  if (impl_->idle < impl_->tasks.size() && impl_->threads.size() < limits::kStepThreads) {
    impl_->add_thread();
  }
  impl_->work.notify_one();
}

void StepThreadPool::drain() {
  std::unique_lock lock(impl_->mutex);
  impl_->quiet.wait(lock, [this] { return impl_->busy == 0 && impl_->tasks.empty(); });
}

}  // namespace leasehold
