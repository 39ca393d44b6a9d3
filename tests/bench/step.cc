// What a durable step costs beside what the disk asks for a durable write: one run of many trivial
// steps, and in the same minute, on the same file system, 4 KiB writes each followed by fdatasync.
// Rounds of both alternate, so that what else the disk does touches both alike.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "agent/engine/engine.h"
#include "core/base/files.h"
#include "core/command_line/options.h"
#include "core/db/row_store.h"

using namespace leasehold;

namespace {

using Nanoseconds = std::chrono::nanoseconds;

constexpr size_t kRawFileBytes = 4 << 20;
constexpr double kGoalStepMs = 0.5;
constexpr double kGoalShare = 0.6;

int64_t now_ns() {
  return std::chrono::duration_cast<Nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// Overwrites a file that has its full length, as a database's log does.
class RawDisk {
 public:
  explicit RawDisk(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    std::string zeros(kRawFileBytes, '\0');
    LEASEHOLD_CHECK(file_.valid(), "cannot create " + path);
    LEASEHOLD_CHECK(
        ::pwrite(file_.get(), zeros.data(), zeros.size(), 0) == static_cast<ssize_t>(zeros.size()),
        "cannot fill " + path);
    LEASEHOLD_CHECK(::fsync(file_.get()) == 0, "cannot sync " + path);
  }
  ~RawDisk() { std::filesystem::remove(path_); }

  // Writes per second, of `count` writes.
  double round(int count) {
    std::string page(4096, 'x');
    int64_t begin = now_ns();
    for (int i = 0; i < count; ++i) {
      page[0] = static_cast<char>(i);
      LEASEHOLD_CHECK(::pwrite(file_.get(), page.data(), page.size(), at_) == 4096, "write failed");
      LEASEHOLD_CHECK(::fdatasync(file_.get()) == 0, "sync failed");
      at_ = (at_ + 4096) % static_cast<off_t>(kRawFileBytes);
    }
    return count * 1e9 / static_cast<double>(now_ns() - begin);
  }

 private:
  std::string path_;
  FileDescriptor file_;
  off_t at_ = 0;
};

// An agent with one workflow of trivial steps, with all its rows and its real apply.
class Site {
 public:
  Site(const std::string& folder, int steps) : steps_(steps) {
    Database::Options options{folder + "/site.db", "",
                              [this](std::function<void()> task) { loop_.post(std::move(task)); }};
    auto opened = Database::open(std::move(options), [](Sql& sql) -> Status {
      SystemRandom random;
      TRY(row_store::migrate(sql, random));
      return Engine::migrate(sql);
    });
    LEASEHOLD_CHECK(opened.ok(), opened.error().text());
    database_ = std::move(opened).value();
    engine_ = std::make_unique<Engine>(engine_options());
  }

  // Commits per second of one run; the time from each step's beginning to the next one's is added
  // to `step_ms`.
  double round(int number, std::vector<double>& step_ms) {
    RunInfo run;
    run.id = RunId("r-" + std::to_string(number));
    run.node = NodeId("n1");
    run.workflow = "trivial@1";
    run.started_ms = clock_.now_ms();
    begun_.clear();
    Status status =
        database_->transact_and_wait([&](Sql& sql) { return engine_->begin(sql, run); });
    LEASEHOLD_CHECK(status.ok(), "the run does not begin");
    engine_->launch(run.id);
    loop_.run();
    for (size_t i = 1; i < begun_.size(); ++i) {
      step_ms.push_back(static_cast<double>(begun_[i] - begun_[i - 1]) / 1e6);
    }
    return static_cast<double>(begun_.size() - 1) * 1e9 /
           static_cast<double>(begun_.back() - begun_.front());
  }

 private:
  Engine::Options engine_options() {
    Engine::Options options;
    options.loop = &loop_;
    options.database = database_.get();
    options.clock = &clock_;
    options.workflows = {workflow()};
    options.load = [](Sql& sql, const RunInfo& run, Snapshot& rows) -> Status {
      rows.put("node", run.node.str(), TRY(row_store::get(sql, "node", run.node.str())));
      return {};
    };
    options.apply = [](Sql& sql, const RowChange& change) { return row_store::put(sql, change); };
    options.fail_unknown = [](const RunInfo&, const Snapshot&, const Error&) { return Done{}; };
    options.on_event = [this](const RunEvent& event) {
      if (event.kind == "finished") loop_.stop();
    };
    return options;
  }
  Workflow workflow() {
    Workflow made;
    made.name = "trivial@1";
    for (int i = 0; i < steps_; ++i) {
      made.places.push_back({"step-" + std::to_string(i), "1", "trivial", 60'000,
                             [this](StepContext&) -> StepOutcome {
                               begun_.push_back(now_ns());
                               return Done{};
                             }});
    }
    return made;
  }

  const int steps_;
  SystemClock clock_;
  Loop loop_;
  std::vector<int64_t> begun_;  // written by the one step at a time, read when the run has ended
  std::unique_ptr<Database> database_;
  std::unique_ptr<Engine> engine_;
};

void print(const std::string& figure, double value, const std::string& unit, double goal,
           const Json& limit) {
  std::printf("%s\n", dump_json({{"figure", figure},
                                 {"value", std::round(value * 1000) / 1000},
                                 {"unit", unit},
                                 {"goal", goal},
                                 {"limit", limit}})
                          .c_str());
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder;
  int rounds = 15, steps = 100;
  std::optional<int> exit_code = parse_options(
      argc, argv, "Durable steps against the disk",
      {{"--dir", "folder on the disk to measure (default: beside the program)", &folder, false}},
      {{"--rounds", "how often both are measured", &rounds, 1, 1000},
       {"--steps", "steps of one run", &steps, 2, 10000}});
  if (exit_code) return *exit_code;
  if (folder.empty()) folder = std::filesystem::canonical("/proc/self/exe").parent_path().string();
  std::string form = folder + "/engine-bench-XXXXXX";
  LEASEHOLD_CHECK(::mkdtemp(form.data()) != nullptr, "cannot create a folder in " + folder);
  // The lines of each step would measure the terminal; only the table is wanted.
  int terminal = ::dup(STDERR_FILENO);
  FileDescriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  ::dup2(nowhere.get(), STDERR_FILENO);

  std::vector<double> step_ms, commits, raw, shares;
  {
    RawDisk disk(form + "/raw");
    Site site(form, steps);
    for (int i = -1; i < rounds; ++i) {
      double writes_per_s = disk.round(steps);
      std::vector<double> times;
      double commits_per_s = site.round(i + 1, times);
      if (i < 0) continue;  // to warm up
      step_ms.insert(step_ms.end(), times.begin(), times.end());
      raw.push_back(writes_per_s);
      commits.push_back(commits_per_s);
      shares.push_back(commits_per_s / writes_per_s);
    }
  }
  std::filesystem::remove_all(form);
  ::dup2(terminal, STDERR_FILENO);

  double raw_per_s = median(raw);
  Json limit = {{"name", "pwrite 4 KiB + fdatasync"},
                {"value", std::round(1e6 / raw_per_s) / 1000},
                {"unit", "ms"}};
  print("step.p50_ms", median(step_ms), "ms", kGoalStepMs, limit);
  limit["value"] = std::round(raw_per_s);
  limit["unit"] = "1/s";
  print("step.fdatasync_share", median(shares), "1", kGoalShare, limit);
  std::sort(step_ms.begin(), step_ms.end());
  std::fprintf(stderr,
               "durable step      p50 %8.3f ms   p99 %8.3f ms   (goal p50 %.1f)\n"
               "raw write+sync    p50 %8.3f ms\n"
               "steps per second  %8.0f  of %8.0f raw: share %.2f (goal %.1f)\n",
               median(step_ms), step_ms[step_ms.size() * 99 / 100], kGoalStepMs, 1000 / raw_per_s,
               median(commits), raw_per_s, median(shares), kGoalShare);
  return 0;
}
