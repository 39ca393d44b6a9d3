#include "agent/sync/centre.h"

#include "core/base/log.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

// A renewal keeps the key; another `site join` makes another.
std::string enrolment_of(const SiteIdentity& identity) {
  JudgeRequest request;
  request.chain_der = pem_to_der(identity.agent_chain_pem).value_or({});
  return sha256_hex(judge(request, identity.anchors).public_key_pem);
}

}  // namespace

Centre::Centre(Options options)
    : options_(std::move(options)),
      http_(*options_.loop),
      client_(http_, options_.place, options_.tools->identity, *options_.tools->clock,
              random_id(*options_.tools->random, "a"),
              [this](const std::string& why) { superseded(why); }),
      link_(*options_.state, client_, *options_.database, link_options()),
      sender_(*options_.state, client_, *options_.database,
              sync::End::of_site(options_.tools->identity->site), *options_.tools->random),
      receiver_(*options_.state, client_, *options_.database, receiver_options()) {}

Centre::~Centre() { stop(); }

SiteLink::Options Centre::link_options() {
  SiteLink::Options link;
  link.end = sync::End::of_site(options_.tools->identity->site);
  link.start = options_.start;
  link.enrolment = enrolment_of(*options_.tools->identity);
  link.clock = options_.tools->clock;
  link.random = options_.tools->random;
  link.trusted = options_.trusted;
  link.gate = options_.tools->gate;
  link.standing = options_.standing;
  link.starting = &starting_;
  link.act = [this]() -> Status {
    TRY(options_.act());
    acting_ = true;
    return {};
  };
  link.fatal = options_.fatal;
  link.refetch = [this] { return receiver_.fetch_wanted(); };
  link.linked = [this] { options_.linked(client_); };
  link.takeover_wait_ms = options_.takeover_wait_ms;
  link.hello_ms = options_.hello_ms;
  return link;
}

RowReceiver::Options Centre::receiver_options() {
  RowReceiver::Options receiver;
  receiver.end = sync::End::of_site(options_.tools->identity->site);
  receiver.intake = options_.intake;
  receiver.random = options_.tools->random;
  receiver.starting = &starting_;
  receiver.told = [this](const IntakeOutcome& outcome) { told(outcome); };
  return receiver;
}

// Runs that began before the site acts are taken up with the journal's others.
void Centre::told(const IntakeOutcome& outcome) {
  log_work_results(outcome);
  if (outcome.tables.contains("authority")) options_.state->look_again();
  if (!acting_ || outcome.to_launch.empty()) return;
  options_.loop->post([this, runs = outcome.to_launch] {
    for (const RunId& run : runs) options_.launch(run);
  });
}

void Centre::superseded(const std::string& why) {
  if (options_.standing->superseded()) return;
  options_.standing->set(Standing::kSuperseded, why);
  options_.state->stop();
  options_.loop->post([this] { options_.frozen(); });
  link_.remember_superseded();
}

void Centre::start() {
  threads_.emplace_back([this] { link_.run(); });
  threads_.emplace_back([this] { sender_.run(); });
  threads_.emplace_back([this] { receiver_.run(); });
}

void Centre::stop() {
  options_.state->stop();
  link_.close();
  http_.shut_down();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

Json Centre::status() const {
  Json status = options_.state->status();
  status["url"] = client_.place().url;
  status["instance"] = client_.instance();
  status["standing"] = standing_name(options_.standing->get());
  status["why"] = options_.standing->why();
  return status;
}

}  // namespace leasehold
