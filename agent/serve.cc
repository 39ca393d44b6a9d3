#include "agent/serve.h"

#include "agent/bootd_client.h"
#include "agent/config.h"
#include "agent/gateway_link.h"
#include "agent/hardware_history.h"
#include "agent/machine_rules.h"
#include "agent/power_debt.h"
#include "agent/site_api.h"
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
    TRY(open_database());
    TRY(open_engine());
    TRY(open_doors());
    loop_.stop_on_signals();
    // Runs go on only now: everything that they reach is there.
    TRY(engine_->recover());
    log_line(LogEvent::kProgramStarted, Json{{"program", "leasehold-agent"},
                                             {"site", config_.identity.site},
                                             {"socket", config_.local_socket}});
    loop_.post([this] { debt_->start(); });
    loop_.run();
    log_line(LogEvent::kProgramStopping, Json{{"program", "leasehold-agent"}});
    engine_->begin_drain();
    http_.shut_down();  // steps that wait for a BMC come back at once
    engine_->drain();
    threads_->drain();
    return {};
  }

 private:
  Status open_database() {
    Database::Options options;
    options.path = config_.database_path();
    options.deliver = [this](std::function<void()> task) { loop_.post(std::move(task)); };
    auto migrate = [this](Sql& sql) -> Status {
      TRY(row_store::migrate(sql, random_));
      TRY(Engine::migrate(sql));
      TRY(check_vault_key(sql));
      TRY(note_all_hardware(sql));
      Json chain = TRY(row_store::get(sql, "site_state", "evidence-chain"));
      if (!chain.is_null()) {
        chain_.start_at({TRY(json_int(chain, "seq")), TRY(json_string(chain, "digest"))});
      }
      return {};
    };
    database_ = TRY(Database::open(std::move(options), migrate));
    return {};
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
    door_ = std::make_unique<MachineDoor>(loop_, *database_, *engine_, tools_);
    gateway_ = std::make_unique<GatewayLink>(loop_, tools_, *door_, config_.gateway_socket,
                                             config_.gateway_uids);
    debt_ = std::make_unique<PowerDebt>(loop_, *database_, *engine_, *threads_, tools_);
    SiteApi::Doors doors{[this] { return gateway_->connected(); },
                         [this] { return bootd_->reachable(); }};
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
    bootd_->watch_claims([this](const std::string& boot) { second_claim(boot); });
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
  Loop loop_;
  CurlMulti http_{loop_};
  std::unique_ptr<Database> database_;
  std::unique_ptr<RedfishBmcFactory> bmcs_;
  std::unique_ptr<BootdClient> bootd_;
  Tools tools_;
  std::unique_ptr<StepThreads> threads_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<MachineDoor> door_;
  std::unique_ptr<GatewayLink> gateway_;
  std::unique_ptr<PowerDebt> debt_;
  std::unique_ptr<SiteApi> api_;
  std::unique_ptr<HttpServer> server_;
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
