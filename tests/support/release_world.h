// A machine with its BMC, bootd and platform ramdisk, in memory: the world in which the agent's
// real workflows run for the four laws. How it stands at first comes from the workflow's own table
// (Workflow::begins_with), so that a new workflow with a known beginning needs nothing here.
// Certificates, evidence and the rules of the door are the real ones; only sockets and time are
// not. It survives the agent's crashes, as a machine does. Tests only; one thread.
#pragma once

#include <map>
#include <set>

#include "agent/engine/engine.h"
#include "agent/store.h"
#include "agent/tools.h"
#include "tests/support/evidence_fixture.h"
#include "tests/support/workflow_laws.h"

namespace leasehold::test {

// The machine and what stands around it.
class FakeMachine : public BmcFactory, public BootControl {
 public:
  std::unique_ptr<Bmc> open(const BmcAddress& address, const BmcCredential& credential) override;
  Result<BmcGreeting> greet(const BmcAddress& address) override;
  Status arm(const std::string& mac, const Json& arming) override;
  Status disarm(const std::string& mac) override;

  void power_on();
  void power_off();

  bool on = true;
  bool wiped = false;
  BootOverride next_boot;
  std::string password;
  std::string also_opens;  // another password that the BMC takes
  // Somebody else's in the BMC, from the start.
  std::vector<BmcAccount> other_accounts = {{"3", "/accounts/3", "tenant", "Administrator", true}};
  bool keeps_accounts = false;
  bool hides_accounts = false;
  int closings = 0;          // close_account was called so often
  bool must_change = false;  // the password is the factory's (quirk A1)
  std::string tls_pin = std::string(64, 'a');
  SystemFacts facts = {"Acme", "X1", "SN1", "", "uuid-1", {{"52:54:00:77:00:10", true}}};
  enum class OnSetPassword { kApply, kRefuse, kPretend, kApplyAndRefuse, kGarble };
  OnSetPassword on_set_password = OnSetPassword::kApply;
  std::map<std::string, std::string> firmware;
  Json armed;                        // what bootd holds; null: nothing
  std::set<std::string> armed_ever;  // power-on ids

  // The ramdisk that runs, if one does.
  struct Ramdisk {
    Json document;
    KeyPair key;
    std::string csr_pem;
    std::vector<std::string> chain_pem;   // empty until it has joined
    std::map<std::string, Json> answers;  // command -> result as posted
  };
  std::unique_ptr<Ramdisk> ramdisk;
};

class ReleaseWorld : public LawWorld {
 public:
  // The initial rows are what this workflow starts from.
  explicit ReleaseWorld(std::string workflow);

  Workflow workflow(Clock& clock) override;
  Status migrate(Sql& sql) override;
  RunInfo run() override;
  Status load(Sql& sql, const RunInfo& run, Snapshot& rows) override;
  Status apply(Sql& sql, const RowChange& change) override;
  Done fail_unknown(const RunInfo& run, const Snapshot& rows, const Error& error) override;
  void started(Engine& engine, Database& database, VirtualTime& time) override;
  Json final_state(Sql& sql) override;
  std::string judge_failure(Sql& sql, const std::string& place) override;

  FakeMachine& machine() { return machine_; }
  const Tools& tools() const { return tools_; }
  const Pki& pki() const { return pki_; }

 private:
  NodeRow first_node() const;
  Status first_rows(Sql& sql);
  Status evidence_rows(Sql& sql);
  void pump();
  void join();
  void answer_commands();
  Json answer(const Json& command);

  std::string workflow_;
  std::string beginning_;  // Workflow::begins_with
  Pki pki_;
  SystemRandom random_;
  std::unique_ptr<Vault> vault_;
  SiteIdentity identity_;
  BusyNodes busy_;
  EvidenceChain chain_;
  Sightings sightings_;
  FakeMachine machine_;
  Tools tools_;
  Engine* engine_ = nullptr;
  Database* database_ = nullptr;
  VirtualTime* time_ = nullptr;
};

}  // namespace leasehold::test
