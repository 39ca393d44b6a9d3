#include "agent/serve.h"

#include "agent/bootd_client.h"
#include "agent/config.h"
#include "agent/gateway_link.h"
#include "agent/hardware_history.h"
#include "agent/machine_rules.h"
#include "agent/power_debt.h"
#include "agent/site_api.h"
#include "agent/sync/centre.h"
#include "agent/sync/renewal.h"
#include "agent/workflows/all.h"
#include "agent/workflows/failure.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "drivers/redfish/redfish_bmc.h"

namespace leasehold {
namespace {

constexpr int64_t kDebtLookMs = 100;
constexpr int64_t kSecondClaimRetryMs = 1'000;
constexpr const char* kVaultCheck = "vault-check";

// Every object of the daemon, in the order in which they are built. What a callback needs of an
// object that is built later is reached through `this` once the loop runs.
class SiteAgent {
 public:
  SiteAgent(AgentConfig config, Vault vault)
      : config_(std::move(config)), vault_(std::move(vault)) {}

  Status run() {
    TRY(make_folders(config_.state_dir, 0750));
    counter_ = TRY(StartCounter::open(config_.vault_key_file));
    TRY(open_database());
    TRY(open_engine());
    TRY(open_doors());
    loop_.stop_on_signals();
    if (config_.coordinator) {
      open_centre();
    } else {
      TRY(act());
    }
    log_line(LogEvent::kProgramStarted, Json{{"program", "leasehold-agent"},
                                             {"site", config_.identity.site},
                                             {"socket", config_.local_socket}});
    loop_.run();
    log_line(LogEvent::kProgramStopping, Json{{"program", "leasehold-agent"}});
    if (centre_) centre_->stop();
    engine_->begin_drain();
    http_.shut_down();  // steps that wait for a BMC come back at once
    engine_->drain();
    threads_->drain();
    return outcome_;
  }

 private:
  sync::End end() const { return sync::End::of_site(config_.identity.site); }

  // Open runs go on, machines are answered, owed power-offs are pursued. Once, when everything that
  // these reach is there and the site is known to be the one that may. Not on the loop's thread
  // while that runs.
  Status act() {
    TRY(database_->transact_and_wait([this](Sql& sql) -> Status {
      TRY(note_all_hardware(sql));
      return read_chain(sql);
    }));
    TRY(engine_->recover());
    loop_.post([this] {
      bootd_->watch_claims([this](const std::string& boot) { second_claim(boot); });
      debt_->start();
    });
    return {};
  }

  // A newer agent is at work: what is under way is cut off, and nothing begins. The status stays.
  void freeze() {
    engine_->begin_drain();
    http_.shut_down();
  }

  // Any thread.
  void fail(const Error& error) {
    loop_.post([this, error] {
      if (outcome_.ok()) outcome_ = error;
      loop_.stop();
    });
  }

  void open_centre() {
    Centre::Options options;
    options.loop = &loop_;
    options.database = database_.get();
    options.intake = &*intake_;
    options.tools = &tools_;
    options.state = &sync_state_;
    options.standing = &standing_;
    options.trusted = &trusted_;
    options.place = *config_.coordinator;
    options.start = start_;
    options.act = [this] { return act(); };
    options.launch = [this](const RunId& run) { engine_->launch(run); };
    options.frozen = [this] { freeze(); };
    options.fatal = [this](const Error& error) { fail(error); };
    options.linked = [this](CoordinatorClient& centre) { renewal_->look(centre); };
    renewal_.emplace(config_.identity_files, tools_.identity, clock_, random_);
    gateway_->on_renew([this](const std::string& csr, auto answer) { renew_gateway(csr, answer); });
    centre_ = std::make_unique<Centre>(std::move(options));
    centre_->start();
  }

  void renew_gateway(const std::string& csr, std::function<void(const std::string&)> answer) {
    renewal_->ask_for_gateway(csr, [this, answer](const Result<std::string>& chain) {
      if (!chain.ok()) return;  // the gateway asks again
      loop_.post([answer, pem = chain.value()] { answer(pem); });
    });
    sync_state_.look_again();
  }

  Status read_chain(Sql& sql) {
    Json chain = TRY(row_store::get(sql, "site_state", "evidence-chain"));
    if (chain.is_null()) return {};
    int64_t seq = TRY(json_int(chain, "seq"));
    std::string digest = TRY(json_string(chain, "digest"));
    chain_.start_at({seq, std::move(digest)});
    return {};
  }

  Status open_database() {
    Database::Options options;
    options.path = config_.database_path();
    options.deliver = [this](std::function<void()> task) { loop_.post(std::move(task)); };
    options.committed = [this] { sync_state_.rows_committed(); };
    auto migrate = [this](Sql& sql) -> Status {
      TRY(row_store::migrate(sql, random_));
      TRY(sync::migrate(sql));
      TRY(Engine::migrate(sql));
      TRY(check_vault_key(sql));
      start_ = TRY(counter_->raise(sql));
      return SiteLink::begin(sql, end(), start_, config_.coordinator.has_value());
    };
    database_ = TRY(Database::open(std::move(options), migrate));
    return counter_->confirm(start_);
  }

  // The database remembers one sealed word: another site's key is found out before it is used.
  Status check_vault_key(Sql& sql) {
    Json known = TRY(row_store::get(sql, "site_state", kVaultCheck));
    if (!known.is_null()) {
      Result<std::string> word = vault_.open_text(json_text(known, "sealed"), kVaultCheck);
      if (word.ok()) return {};
      return Error(Code::kConfig, config_.vault_key_file + " is not the vault key of " +
                                      config_.database_path() +
                                      "; name the key file that was made for it");
    }
    Json row = {{"table", "site_state"},
                {"schema", 1},
                {"name", kVaultCheck},
                {"sealed", vault_.seal_text(kVaultCheck, kVaultCheck)}};
    return row_store::put(sql, RowChange{"site_state", kVaultCheck, std::move(row)});
  }

  Status open_engine() {
    bmcs_ = std::make_unique<RedfishBmcFactory>(http_, clock_);
    bootd_ = std::make_unique<BootdClient>(loop_, http_, config_.bootd_socket);
    tools_ = Tools{bmcs_.get(),       bootd_.get(), &vault_, &clock_,    &random_,
                   &config_.identity, &busy_,       &chain_, &sightings_};
    if (config_.coordinator) tools_.gate = &authority_;
    threads_ = std::make_unique<StepThreadPool>();
    Engine::Options options;
    options.loop = &loop_;
    options.database = database_.get();
    options.clock = &clock_;
    options.threads = threads_.get();
    options.workflows = all_workflows(tools_);
    options.load = Store::load;
    options.apply = Store::put_of_step;
    options.fail_unknown = [this](const RunInfo& run, const Snapshot& rows, const Error& error) {
      StepContext context;
      context.run = run;
      context.rows = std::make_shared<Snapshot>(rows);
      return failure_rows(tools_, context, error);
    };
    options.on_event = [this](const RunEvent& event) { run_event(event); };
    options.on_notice = [this](const Json& notice) { heed(notice); };
    options.crash_file = config_.crash_file();
    engine_ = std::make_unique<Engine>(std::move(options));
    return {};
  }

  Status open_doors() {
    intake_.emplace(*engine_, tools_);
    door_ = std::make_unique<MachineDoor>(loop_, *database_, *engine_, tools_);
    door_->ask_first([this] { return standing_.may_begin(); });
    gateway_ = std::make_unique<GatewayLink>(loop_, tools_, *door_, config_.gateway_socket,
                                             config_.gateway_uids);
    debt_ = std::make_unique<PowerDebt>(loop_, *database_, *engine_, *threads_, tools_);
    SiteApi::Doors doors;
    doors.gateway_connected = [this] { return gateway_->connected(); };
    doors.bootd_reachable = [this] { return bootd_->reachable(); };
    doors.may_begin = [this] { return standing_.may_begin(); };
    doors.centre = [this] { return centre_ ? centre_->status() : Json(); };
    api_ = std::make_unique<SiteApi>(loop_, *database_, *engine_, tools_, std::move(doors));
    HttpServerOptions options;
    options.unix_path = config_.local_socket;
    options.unix_mode = 0666;  // whoever connects is judged by its user id
    options.allowed_uids = config_.local_uids;
    server_ = std::make_unique<HttpServer>(loop_, options,
                                           [this](const ServerRequest& request, Responder respond) {
                                             api_->handle(request, std::move(respond));
                                           });
    server_->on_close([this](uint64_t connection) { api_->connection_closed(connection); });
    TRY(server_->start());
    TRY(gateway_->start());
    return {};
  }

  void run_event(const RunEvent& event) {
    api_->run_event(event);
    // The run is told finished just before it is gone: a look at once might still see it.
    if (event.kind == "finished") loop_.after(kDebtLookMs, [this] { debt_->look(); });
  }

  // What a committed step wants told.
  void heed(const Json& notice) {
    std::string type = json_text(notice, "type");
    if (type == "close-node") gateway_->close_node(json_text(notice, "node"));
    if (type == "commands") door_->commands_changed(json_text(notice, "node"));
    if (type == "evidence-chain") {
      chain_.committed(RunId(json_text(notice, "run")),
                       {notice.value("seq", int64_t{0}), json_text(notice, "digest")});
    }
  }

  void second_claim(const std::string& boot) {
    log_line(LogEvent::kBootClaimedTwice, Json{{"boot", boot}});
    auto run = std::make_shared<RunId>();
    auto decide = [this, boot, run](Sql& sql) -> Status {
      *run = TRY(decide_second_claim(sql, tools_, boot));
      return {};
    };
    database_->transact(decide, [this, run, boot](Status decided) {
      if (!decided.ok() && decided.error().code == Code::kForbidden) return;  // no boot of ours
      if (!decided.ok()) {
        // What bootd has told once it does not tell again.
        loop_.after(kSecondClaimRetryMs, [this, boot] { second_claim(boot); });
        return;
      }
      engine_->post_event(*run, "ramdisk.joined");
      engine_->post_event(*run, "result");
    });
  }

  AgentConfig config_;
  Vault vault_;
  SystemClock clock_;
  SystemRandom random_;
  BusyNodes busy_;
  EvidenceChain chain_;
  Sightings sightings_;
  SyncState sync_state_{clock_};
  TrustedClock trusted_{clock_, KernelClock::system()};
  SiteStanding standing_{config_.coordinator ? Standing::kStarting : Standing::kAlone};
  Authority authority_{trusted_, standing_};
  std::unique_ptr<StartCounter> counter_;
  StartCounter::Start start_;
  Status outcome_;
  Loop loop_;
  CurlMulti http_{loop_};
  std::unique_ptr<Database> database_;
  std::unique_ptr<RedfishBmcFactory> bmcs_;
  std::unique_ptr<BootdClient> bootd_;
  Tools tools_;
  std::unique_ptr<StepThreads> threads_;
  std::unique_ptr<Engine> engine_;
  std::optional<Intake> intake_;
  std::unique_ptr<MachineDoor> door_;
  std::unique_ptr<GatewayLink> gateway_;
  std::unique_ptr<PowerDebt> debt_;
  std::unique_ptr<SiteApi> api_;
  std::unique_ptr<HttpServer> server_;
  std::optional<Renewal> renewal_;
  std::unique_ptr<Centre> centre_;
};

}  // namespace

Status serve_site(const std::string& config_path) {
  AgentConfig config = TRY(read_agent_config(config_path));
  SystemRandom random;
  Vault vault = TRY(Vault::open(config.vault_key_file, random));
  SiteAgent agent(std::move(config), std::move(vault));
  return agent.run();
}

}  // namespace leasehold
