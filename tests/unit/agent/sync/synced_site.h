// A site's agent as far as the row sync needs it: database, engine, intake and Centre, with one
// workflow whose only step counts how often it touched the machine, and then waits. A SyncedSite is
// one life of the agent in a folder; another one in the same folder is its restart. Tests only.
#pragma once

#include <atomic>

#include "agent/sync/centre.h"
#include "agent/workflows/names.h"
#include "tests/unit/agent/sync/row_centre.h"

namespace leasehold::test {

struct SiteFolder {
  TempFolder folder{TempFolder::Where::kMemory};
  std::string database = folder.file("site.db");
  std::string vault_key = folder.file("vault.key");
  KeyPair key = generate_key();  // of the agent's certificate
};

class SyncedSite {
 public:
  struct Wish {
    std::string url;
    std::string address;
    int64_t takeover_wait_ms = 50;
    int64_t hello_ms = 300;
    KernelClock kernel = {"boot-1", [] { return true; }};
  };
  SyncedSite(const SiteFolder& folder, const LiveAuthority& authority, Wish wish)
      : trusted_(clock_, wish.kernel) {
    const KeyPair& key = folder.key;
    identity_.site = "s1";
    identity_.domain = authority.domain;
    identity_.anchors = authority.anchors();
    identity_.agent_key_pem = key.private_key_pem;
    identity_.agent_chain_pem = authority.leaf(authority.identity(IdentityKind::kSiteAgent, "s1"),
                                               make_csr(key.private_key_pem).value());
    tools_.clock = &clock_;
    tools_.random = &random_;
    tools_.identity = &identity_;
    tools_.gate = &gate_;
    open(folder);
    start(wish);
  }
  ~SyncedSite() {
    loop_.on_loop([this] { centre_->stop(); });
    engine_->begin_drain();
    engine_->drain();
    loop_.on_loop([this] { centre_.reset(); });
    loop_.stop();
    engine_.reset();
  }

  Status in(const std::function<Status(Sql&)>& body) { return database_->transact_and_wait(body); }
  Json row(const std::string& table, const std::string& key) {
    Json found;
    REQUIRE(in([&](Sql& sql) -> Status {
              found = TRY(row_store::get(sql, table, key));
              return {};
            }).ok());
    return found;
  }
  void put(const RowChange& change) {
    REQUIRE(in([&](Sql& sql) { return row_store::put(sql, change); }).ok());
  }
  void put_node(const std::string& id, NodeState state) {
    NodeRow node;
    node.id = NodeId(id);
    node.site = "s1";
    node.state = state;
    node.generation = 4;
    node.tenant_root = true;
    node.lease = LeaseId("l-1");
    put(node.change());
  }
  NodeRow node(const std::string& id) { return NodeRow::parse(row("node", id)).value(); }
  Standing standing() const { return standing_.get(); }
  Json status() const { return centre_->status(); }

  std::atomic<int> acted{0};
  std::atomic<int> frozen{0};
  std::atomic<int> fatal{0};
  std::atomic<int> touched{0};  // the machine, by a step

 private:
  void open(const SiteFolder& folder) {
    counter_ = StartCounter::open(folder.vault_key).value();
    Database::Options options;
    options.path = folder.database;
    options.deliver = [this](std::function<void()> task) { loop_.loop().post(std::move(task)); };
    options.committed = [this] { state_.rows_committed(); };
    database_ = Database::open(std::move(options), [this](Sql& sql) -> Status {
                  TRY(row_store::migrate(sql, random_));
                  TRY(sync::migrate(sql));
                  TRY(Engine::migrate(sql));
                  start_ = TRY(counter_->raise(sql));
                  return SiteLink::begin(sql, sync::End::of_site("s1"), start_, true);
                }).value();
    REQUIRE(counter_->confirm(start_).ok());
    Engine::Options engine;
    engine.loop = &loop_.loop();
    engine.database = database_.get();
    engine.clock = &clock_;
    engine.workflows = {workflow()};
    engine.load = Store::load;
    engine.apply = Store::put_of_step;
    engine.fail_unknown = [](const RunInfo&, const Snapshot&, const Error&) { return Done{}; };
    engine_ = std::make_unique<Engine>(std::move(engine));
    intake_.emplace(*engine_, tools_);
  }

  Workflow workflow() {
    Workflow made;
    made.name = kReleaseWorkflow;
    made.places = {{"touch", "1", "touch", 3'600'000, [this](StepContext&) -> StepOutcome {
                      ++touched;
                      return Poll{"the machine", 10, 3'600'000, Code::kTimeout};
                    }}};
    made.fail = [](StepContext&, const Error&) { return Done{}; };
    return made;
  }

  void start(const Wish& wish) {
    Centre::Options options;
    options.loop = &loop_.loop();
    options.database = database_.get();
    options.intake = &*intake_;
    options.tools = &tools_;
    options.state = &state_;
    options.standing = &standing_;
    options.trusted = &trusted_;
    options.place = parse_coordinator_place(wish.url, wish.address).value();
    options.start = start_;
    options.act = [this]() -> Status {
      ++acted;
      return engine_->recover();
    };
    options.launch = [this](const RunId& run) { engine_->launch(run); };
    options.frozen = [this] {
      ++frozen;
      engine_->begin_drain();
    };
    options.fatal = [this](const Error&) { ++fatal; };
    options.takeover_wait_ms = wish.takeover_wait_ms;
    options.hello_ms = wish.hello_ms;
    loop_.on_loop([&] { centre_ = std::make_unique<Centre>(std::move(options)); });
    centre_->start();
  }

  SystemClock clock_;
  SystemRandom random_;
  SyncState state_{clock_};
  TrustedClock trusted_;
  SiteStanding standing_{Standing::kStarting};
  Authority gate_{trusted_, standing_};
  SiteIdentity identity_;
  Tools tools_;
  std::unique_ptr<StartCounter> counter_;
  StartCounter::Start start_;
  std::unique_ptr<Database> database_;
  LoopThread loop_;
  std::unique_ptr<Engine> engine_;
  std::optional<Intake> intake_;
  std::unique_ptr<Centre> centre_;
};

}  // namespace leasehold::test
