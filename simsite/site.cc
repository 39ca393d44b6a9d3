#include "simsite/site.h"

#include "core/base/files.h"
#include "simsite/bmc_certificate.h"
#include "simsite/control.h"
#include "simsite/limits.h"

namespace leasehold::simsite {

Site::Site(Loop& loop, Clock& clock, Random& random, const SiteConfig& config)
    : loop_(loop),
      clock_(clock),
      random_(random),
      config_(config),
      effects_(clock, kill_now),
      boot_(loop, client_) {}

Status Site::start() {
  for (const MachineConfig& config : config_.machines) {
    machines_.push_back(
        std::make_unique<Machine>(loop_, clock_, random_, boot_, effects_, config, config_));
    Machine& machine = *machines_.back();
    TRY_WITH(machine.prepare(), machine.name());
    TRY_WITH(start_bmc(machine), machine.name());
  }
  HttpServerOptions options;
  options.unix_path = config_.control_socket;
  options.unix_mode = 0600;  // it tells secrets and kills processes
  control_ = std::make_unique<HttpServer>(loop_, std::move(options),
                                          [this](const ServerRequest& request, Responder respond) {
                                            answer_control(request, std::move(respond));
                                          });
  TRY(control_->start());
  return write_file_atomic(config_.state_dir + "/site.json", dump_json_pretty(facts()) + "\n",
                           0644);
}

Status Site::start_bmc(Machine& machine) {
  BmcCertificate certificate = TRY(make_bmc_certificate("bmc-" + machine.name()));
  HttpServerOptions options;
  options.tcp_host = "127.0.0.1";
  options.tcp_port = machine.config().bmc_port;
  options.tls = true;
  options.tls_config.certificate_chain_pem = certificate.certificate_pem;
  options.tls_config.private_key_pem = certificate.private_key_pem;
  options.tls_config.tls12_allowed = true;
  size_t index = bmcs_.size();
  bmcs_.push_back(
      {certificate.sha256_hex,
       std::make_unique<HttpServer>(loop_, std::move(options),
                                    [this, index](const ServerRequest& request, Responder respond) {
                                      answer_bmc(index, request, std::move(respond));
                                    })});
  return bmcs_.back().server->start();
}

Machine* Site::find(const std::string& name) {
  for (const auto& machine : machines_) {
    if (machine->name() == name) return machine.get();
  }
  return nullptr;
}

Json Site::facts() const {
  Json machines = Json::array();
  for (size_t i = 0; i < machines_.size(); ++i) {
    Json facts = machines_[i]->facts();
    facts["url"] = "https://127.0.0.1:" + std::to_string(bmcs_[i].server->port());
    facts["tls_pin"] = bmcs_[i].tls_pin;
    machines.push_back(facts);
  }
  return {{"machines", machines}};
}

void Site::answer_bmc(size_t index, const ServerRequest& request, Responder respond) {
  BmcAnswer answer =
      machines_[index]->bmc_request({request.method, request.path, request.headers, request.body});
  deliver(*bmcs_[index].server, request.connection, answer.delivery, answer.latency_ms,
          std::move(answer.response), std::move(respond));
}

void Site::answer_control(const ServerRequest& request, Responder respond) {
  if (Machine* machine = tool_request(*this, request)) {
    answer_tool(*machine, request, std::move(respond));
  } else {
    respond(control_answer(*this, request));
  }
}

void Site::answer_tool(Machine& machine, const ServerRequest& request, Responder respond) {
  Result<std::vector<std::string>> argv = parse_tool_request(request);
  if (!argv.ok()) {
    respond(error_response(argv.error()));
    return;
  }
  ToolAnswer answer = machine.tool_call(argv.value());
  Json body = {
      {"exit", answer.result.exit}, {"out", answer.result.out}, {"err", answer.result.err}};
  deliver(*control_, request.connection, answer.delivery, answer.latency_ms,
          json_response(200, dump_json(body)), std::move(respond));
}

void Site::deliver(HttpServer& server, uint64_t connection, Delivery delivery, int64_t latency_ms,
                   HttpResponse response, Responder respond) {
  auto finish = [&server, connection, delivery, response = std::move(response),
                 respond = std::move(respond)] {
    if (delivery == Delivery::kAnswer) respond(response);
    if (delivery == Delivery::kDrop) server.abort(connection, false);
    if (delivery == Delivery::kReset) server.abort(connection, true);
  };
  if (latency_ms <= 0) {
    finish();
  } else {
    loop_.after(latency_ms, std::move(finish));
  }
}

}  // namespace leasehold::simsite
