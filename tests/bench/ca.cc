// How many certificates the coordinator's authority issues, each of them a durable row before
// anybody has it: parallel requests, group commit, on the disk under the program. Beside it, what
// the arithmetic alone allows: one P-256 verification (of the CSR) and one signature.
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "coordinator/authority/certificate_authority.h"
#include "coordinator/store/schema.h"
#include "core/base/json.h"
#include "core/command_line/options.h"
#include "core/tls/crypto.h"

using namespace leasehold;

namespace {

constexpr double kGoalPerCore = 2'000;
constexpr int kKeys = 64;
constexpr int64_t kDayMs = 24LL * 3600 * 1000;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// An authority over a database of its own, and what its clients ask.
class Bench {
 public:
  explicit Bench(const std::string& folder) {
    const Validity validity{clock_.now_ms() - kDayMs, clock_.now_ms() + 100 * kDayMs};
    CaKey root = issue_root("example.net", validity).value();
    CaKey issuing = issue_issuing_ca(root, "example.net", validity).value();
    authority_ = std::make_unique<CertificateAuthority>(std::move(issuing), "example.net", clock_);
    Database::Options options;
    options.path = folder + "/coordinator.db";
    options.deliver = [](std::function<void()> task) { task(); };
    database_ = Database::open(std::move(options), store::migrate).value();
    for (int i = 0; i < kKeys; ++i) {
      keys_.push_back(generate_key());
      csrs_.push_back(make_csr(keys_.back().private_key_pem).value());
    }
    site_.site = "s1";
    site_.enrolment = 1;
  }

  // Certificates per second.
  double issue(int threads, int count) {
    std::atomic<int> left{count};
    std::vector<std::thread> clients;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < threads; ++i) {
      clients.emplace_back([&] {
        while (left.fetch_sub(1) > 0) issue_one(csrs_[static_cast<size_t>(left & (kKeys - 1))]);
      });
    }
    for (std::thread& client : clients) client.join();
    return count / seconds_since(begin);
  }

  // Pairs of a verification and a signature per second, on one core.
  double arithmetic(int count) {
    const std::string text(300, 'x');
    const std::string signature = sign(keys_[0].private_key_pem, text).value();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
      sign(keys_[0].private_key_pem, text).value();
      verify_signature(keys_[0].public_key_pem, text, signature).value();
    }
    return count / seconds_since(begin);
  }

 private:
  void issue_one(const std::string& csr) {
    Issued issued = authority_->issue_site_agent(site_, csr).value();
    database_->transact_and_wait([&](Sql& sql) { return CertificateAuthority::keep(sql, issued); })
        .value();
  }

  SystemClock clock_;
  std::unique_ptr<CertificateAuthority> authority_;
  std::unique_ptr<Database> database_;
  std::vector<KeyPair> keys_;
  std::vector<std::string> csrs_;
  store::Site site_;
};

}  // namespace

int main(int argc, char** argv) {
  std::string folder;
  int count = 20'000, threads = 64;
  std::optional<int> exit_code = parse_options(
      argc, argv, "Certificates with durable rows",
      {{"--dir", "folder on the disk to measure (default: beside the program)", &folder, false}},
      {{"--count", "certificates", &count, 100, 1'000'000},
       {"--threads", "requests at once", &threads, 1, 256}});
  if (exit_code) return *exit_code;
  if (folder.empty()) folder = std::filesystem::canonical("/proc/self/exe").parent_path().string();
  std::string form = folder + "/ca-bench-XXXXXX";
  LEASEHOLD_CHECK(::mkdtemp(form.data()) != nullptr, "cannot create a folder in " + folder);
  double per_s = 0, raw_per_s = 0;
  {
    Bench bench(form);
    bench.issue(threads, count / 10);  // to warm up
    raw_per_s = bench.arithmetic(2'000);
    per_s = bench.issue(threads, count);
  }
  std::filesystem::remove_all(form);
  const double cores = std::max(1u, std::thread::hardware_concurrency());
  const double per_core = per_s / cores;
  std::printf("%s\n", dump_json({{"figure", "ca.issue_per_s"},
                                 {"value", std::round(per_core)},
                                 {"unit", "1/s per core"},
                                 {"goal", kGoalPerCore},
                                 {"limit",
                                  {{"name", "P-256 sign and verify, keys decoded each time"},
                                   {"value", std::round(raw_per_s)},
                                   {"unit", "1/s per core"}}}})
                          .c_str());
  std::fprintf(stderr,
               "certificates      %8.0f /s on %.0f cores: %.0f per core (goal %.0f)\n"
               "sign and verify   %8.0f /s on one core\n",
               per_s, cores, per_core, kGoalPerCore, raw_per_s);
  return 0;
}
