// A coordinator without a socket: its real database, authority and API, a clock that a test sets,
// and callers with certificates of every kind. A call goes in as the server would hand it over and
// comes back answered. Tests only, one thread (the loop runs while a call waits).
#pragma once

#include <memory>
#include <string>

#include "coordinator/api/api.h"
#include "core/loop/loop.h"
#include "tests/support/evidence_fixture.h"
#include "tests/support/temp_folder.h"

namespace leasehold::test {

class SetClock : public Clock {
 public:
  int64_t now_ms() override { return now_ms_; }
  int64_t monotonic_ms() override { return real_.monotonic_ms(); }
  void sleep_ms(int64_t duration_ms) override { real_.sleep_ms(duration_ms); }
  void advance(int64_t ms) { now_ms_ += ms; }

 private:
  SystemClock real_;
  int64_t now_ms_ = kNow;
};

struct Answer {
  int status = 0;
  Json body;
  std::string text;
  std::string code() const { return json_text(body, "code"); }
  std::string field() const { return json_text(body, "field"); }
};

class CoordinatorRig {
 public:
  // `vfs`: of tests/support/faulty_vfs.h, or the system's.
  explicit CoordinatorRig(const std::string& vfs = "");
  ~CoordinatorRig();

  // `caller` null: without a certificate. `body` null: none.
  Answer call(const std::string& method, const std::string& target, const Json& body = {},
              const Signer* caller = nullptr, const std::string& instance = "");
  Answer call_text(const std::string& method, const std::string& target, const std::string& text,
                   const Signer* caller, const std::string& instance = "");
  Answer get(const std::string& target) { return call("GET", target, {}, &admin); }
  Answer post(const std::string& target, const Json& body) {
    return call("POST", target, body, &admin);
  }
  // Starts a call and does not wait for its answer, which goes to `*answer`.
  void begin(uint64_t connection, const std::string& target, std::shared_ptr<Answer> answer);
  void run_until(const std::function<bool()>& condition);

  Signer of(IdentityKind kind, const std::string& site = "s1") const;
  Signer with_chain(const KeyPair& key, const std::string& chain_pem) const;
  // Closes the database and opens it again, as a restart does.
  void restart();
  // Everything up to a site that is enrolled: its agent's certificate.
  Signer enrol(const std::string& site = "s1");
  Json enrolment(const std::string& token) const;  // a good body; keys are thrown away
  Status read(const std::function<Status(Sql&)>& look) { return database->transact_and_wait(look); }

  TempFolder folder{TempFolder::Where::kMemory};
  Pki pki = make_pki();
  SetClock clock;
  SystemRandom random;
  CoordinatorConfig config;
  Loop loop;
  std::unique_ptr<CertificateAuthority> authority;
  CentreContext context;
  std::unique_ptr<Api> api;
  std::unique_ptr<Database> database;
  Signer admin;

 private:
  void open();
  ServerRequest request_of(const std::string& method, const std::string& target,
                           const std::string& text, const Signer* caller,
                           const std::string& instance);
  std::string vfs_;
  uint64_t connections_ = 1'000;
};

}  // namespace leasehold::test
