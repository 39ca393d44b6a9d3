#include "coordinator/serve.h"

#include "coordinator/api/api.h"
#include "coordinator/limits.h"
#include "coordinator/start_mark.h"
#include "coordinator/store/schema.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/db/row_store.h"
#include "core/sync/position.h"

namespace leasehold {
namespace {

class Coordinator {
 public:
  explicit Coordinator(CoordinatorConfig config) : config_(std::move(config)) {}

  Status run() {
    TRY(make_folders(config_.state_dir, 0700));
    TRY(open_database());
    TRY(open_door());
    loop_.stop_on_signals();
    log_line(LogEvent::kProgramStarted, Json{{"program", "leasehold-coordinator"},
                                             {"domain", config_.domain},
                                             {"port", server_->port()}});
    loop_.run();
    log_line(LogEvent::kProgramStopping, Json{{"program", "leasehold-coordinator"}});
    server_.reset();
    return {};
  }

 private:
  Status open_database() {
    Database::Options options;
    options.path = config_.database_path();
    options.deliver = [this](std::function<void()> task) { loop_.post(std::move(task)); };
    StartMark mark(config_.state_dir);
    TRY(mark.read());
    database_ = TRY(Database::open(std::move(options), [&](Sql& sql) -> Status {
      TRY(row_store::migrate(sql, random_, RowOwner::kCoordinator));
      TRY(sync::migrate(sql));
      TRY(store::migrate(sql));
      return mark.raise(sql);
    }));
    return mark.confirm();
  }

  Status open_door() {
    context_ = CentreContext{&config_, &authority_, &clock_, &random_, random_id(random_, "start")};
    api_ = std::make_unique<Api>(loop_, *database_, context_);
    TRY(api_->start());
    HttpServerOptions options;
    options.tcp_host = config_.listen_host;
    options.tcp_port = config_.listen_port;
    options.tls = true;
    options.tls_config.certificate_chain_pem = config_.leaf.certificate_chain_pem;
    options.tls_config.private_key_pem = config_.leaf.private_key_pem;
    options.tls_config.ask_client_certificate = true;
    options.max_body_bytes = limits::kCentreBodyBytes;
    options.max_connections = limits::kCentreConnections;
    options.max_connections_per_peer = limits::kCentreConnectionsPerPeer;
    server_ = std::make_unique<HttpServer>(loop_, options,
                                           [this](const ServerRequest& request, Responder respond) {
                                             api_->handle(request, std::move(respond));
                                           });
    server_->on_close([this](uint64_t connection) { api_->connection_closed(connection); });
    return server_->start();
  }

  CoordinatorConfig config_;
  SystemClock clock_;
  SystemRandom random_;
  CertificateAuthority authority_{config_.issuing, config_.domain, clock_};
  CentreContext context_;
  Loop loop_;
  std::unique_ptr<Api> api_;  // the database's callbacks reach it
  std::unique_ptr<Database> database_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace

Status serve_coordinator(const std::string& config_path) {
  SystemClock clock;
  CoordinatorConfig config = TRY(read_coordinator_config(config_path, clock));
  Coordinator coordinator(std::move(config));
  return coordinator.run();
}

}  // namespace leasehold
