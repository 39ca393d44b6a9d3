#include "core/db/database.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/db/connection.h"

namespace leasehold {
namespace {

// A caller that blocks until its transaction is over.
struct Waiter {
  std::condition_variable wake;
  bool over = false;
  Status status;
};

struct Item {
  Database::Transaction transaction;
  Database::Callback done;
  Waiter* waiter = nullptr;
  Status status;
};

}  // namespace

// One at a time holds the writer's role (writing_) and with it the connection: the thread, or a
// caller of transact_and_wait who found nobody waiting. The latter saves two thread switches.
class Database::Impl {
 public:
  Impl(Options options, std::unique_ptr<Connection> connection)
      : options_(std::move(options)), connection_(std::move(connection)) {
    thread_ = std::thread([this] { serve(); });
  }

  ~Impl() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  void transact(Transaction transaction, Callback done) {
    Status refused;
    {
      std::lock_guard lock(mutex_);
      if (queue_.size() < limits::kDatabaseQueue) {
        queue_.push_back({std::move(transaction), std::move(done), nullptr, {}});
      } else {
        refused = Error(Code::kUnavailable, "too many transactions wait for " + options_.path);
      }
    }
    if (refused.ok()) {
      wake_.notify_one();
    } else if (done) {
      options_.deliver([done = std::move(done), refused] { done(refused); });
    }
  }

  Status transact_and_wait(Transaction transaction) {
    std::unique_lock lock(mutex_);
    if (writing_ || !queue_.empty()) {
      Waiter waiter;
      queue_.push_back({std::move(transaction), nullptr, &waiter, {}});
      wake_.notify_one();
      waiter.wake.wait(lock, [&] { return waiter.over; });
      return waiter.status;
    }
    writing_ = true;
    lock.unlock();
    std::deque<Item> group;
    group.push_back({std::move(transaction), nullptr, nullptr, {}});
    write_group(group);
    lock.lock();
    writing_ = false;
    if (has_work()) wake_.notify_one();
    return group.front().status;
  }

 private:
  bool has_work() const {
    return !queue_.empty() || stopping_ || connection_->wal_frames() >= checkpoint_at_;
  }

  // The thread's body. The log is copied back when nobody waits, or when it has grown too far.
  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return !writing_ && has_work(); });
      int overdue = connection_->wal_frames() - checkpoint_at_;
      if (overdue >= (queue_.empty() ? 0 : limits::kWalFramesHard - limits::kWalFramesSoft)) {
        writing_ = true;
        lock.unlock();
        checkpoint();
        lock.lock();
        writing_ = false;
      } else if (!queue_.empty()) {
        serve_group(lock);
      } else {
        return;
      }
    }
  }

  void serve_group(std::unique_lock<std::mutex>& lock) {
    size_t count = std::min(queue_.size(), limits::kDatabaseGroup);
    std::deque<Item> group;
    for (size_t i = 0; i < count; ++i) {
      group.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    writing_ = true;
    lock.unlock();
    write_group(group);
    deliver(group);
    lock.lock();
    writing_ = false;
    for (Item& item : group) {
      if (item.waiter == nullptr) continue;
      item.waiter->status = std::move(item.status);
      item.waiter->over = true;
      item.waiter->wake.notify_one();
    }
  }

  // All or nothing for each item, one fsync for all of them.
  void write_group(std::deque<Item>& group) {
    Status status = connection_->run("BEGIN IMMEDIATE", {});
    for (Item& item : group) {
      if (!status.ok()) break;
      item.status =
          group.size() == 1 ? item.transaction(*connection_) : run_in_savepoint(item, status);
      // A full disk makes SQLite roll back everything, the others' work as well.
      if (!connection_->in_transaction()) {
        status = item.status.ok() ? Error(Code::kDatabase, "the transaction was lost")
                                  : Status(item.status.error());
      }
    }
    if (status.ok() && group.size() == 1 && !group.front().status.ok()) {
      status = group.front().status;
    }
    const uint64_t before = connection_->commits();
    if (status.ok()) status = connection_->run("COMMIT", {});
    if (status.ok()) {
      if (options_.committed && connection_->commits() != before) options_.committed();
      return;
    }
    if (connection_->in_transaction()) {
      Status undone = connection_->run("ROLLBACK", {});
      LEASEHOLD_CHECK(undone.ok() || !connection_->in_transaction(), "a rollback failed");
    }
    for (Item& item : group) {
      if (item.status.ok()) item.status = status;
    }
  }

  Status run_in_savepoint(Item& item, Status& group) {
    TRY(connection_->run("SAVEPOINT item", {}));
    Status status = item.transaction(*connection_);
    if (!connection_->in_transaction()) return status;
    Status settled = status.ok() ? Status() : connection_->run("ROLLBACK TO item", {});
    if (settled.ok()) settled = connection_->run("RELEASE item", {});
    if (settled.ok()) return status;
    group = settled;  // half of the item may be there, so nothing of the group is kept
    return status.ok() ? settled : status;
  }

  void deliver(std::deque<Item>& group) {
    std::vector<std::pair<Callback, Status>> calls;
    for (Item& item : group) {
      if (item.done) calls.emplace_back(std::move(item.done), item.status);
    }
    if (calls.empty()) return;
    options_.deliver([calls = std::move(calls)] {
      for (const auto& [done, status] : calls) done(status);
    });
  }

  void checkpoint() {
    Status status = connection_->checkpoint();
    checkpoint_at_ = limits::kWalFramesSoft;
    if (status.ok()) return;
    checkpoint_at_ += connection_->wal_frames();  // tried again after as much work once more
    log_line(LogEvent::kCheckpointFailed, {{"message", status.error().text()}});
  }

  Options options_;
  std::unique_ptr<Connection> connection_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Item> queue_;
  int checkpoint_at_ = limits::kWalFramesSoft;
  bool writing_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::~Database() = default;

Result<std::unique_ptr<Database>> Database::open(Options options, Transaction migrate) {
  std::unique_ptr<Connection> connection = TRY(Connection::open(options.path, options.vfs));
  TRY(connection->run("BEGIN IMMEDIATE", {}));
  // Closing the connection undoes what a failed migration began.
  if (migrate) TRY_WITH(migrate(*connection), "migration of " + options.path);
  TRY(connection->run("COMMIT", {}));
  if (options.vfs.empty()) TRY(connection->extend_wal());
  auto impl = std::make_unique<Impl>(std::move(options), std::move(connection));
  return std::unique_ptr<Database>(new Database(std::move(impl)));
}

void Database::transact(Transaction transaction, Callback done) {
  impl_->transact(std::move(transaction), std::move(done));
}

Status Database::transact_and_wait(Transaction transaction) {
  return impl_->transact_and_wait(std::move(transaction));
}

}  // namespace leasehold
