#include "pxe/boot_control_api.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/log.h"
#include "pxe/boot_script.h"

namespace leasehold {
namespace {

constexpr std::string_view kArmedPrefix = "/v1/armed/";

Result<int64_t> parse_after(const std::string& text) {
  if (text.empty()) return int64_t{0};
  int64_t after = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), after);
  if (problem == std::errc() && end == text.data() + text.size() && after >= 0) return after;
  return Error(Code::kInvalidInput, "\"after\" must be a whole number", "after");
}

HttpResponse no_such_request() {
  return error_response(Error(Code::kNotFound, "there is no such request"));
}

}  // namespace

BootControlApi::BootControlApi(Loop& loop, BootTable& table, const ImageFolder& images,
                               std::string incarnation, int64_t poll_ms)
    : loop_(loop),
      table_(table),
      images_(images),
      incarnation_(std::move(incarnation)),
      poll_ms_(poll_ms) {}

BootControlApi::~BootControlApi() {
  for (const Poll& poll : polls_) loop_.cancel(poll.timer);
}

void BootControlApi::handle(const ServerRequest& request, Responder respond) {
  if (request.path == "/v1/claims" && request.method == "GET") {
    return poll_claims(request, std::move(respond));
  }
  if (!request.path.starts_with(kArmedPrefix)) return respond(no_such_request());
  const std::string mac = request.path.substr(kArmedPrefix.size());
  if (request.method == "PUT") return respond(arm(mac, request.body));
  if (request.method == "DELETE") return respond(disarm(mac));
  respond(no_such_request());
}

HttpResponse BootControlApi::arm(const std::string& mac, const std::string& body) {
  Result<Arming> arming = parse_arming(mac, body);
  if (!arming.ok()) return error_response(arming.error());
  for (const auto& [field, name] :
       {std::pair("kernel", arming.value().kernel), std::pair("initrd", arming.value().initrd)}) {
    // Found out now, and not by a machine that never calls home.
    if (images_.open(name).ok()) continue;
    return error_response(
        Error(Code::kInvalidInput, "the image folder has no file \"" + name + "\"", field));
  }
  const std::string boot = arming.value().boot;
  const std::string normalised = arming.value().mac;
  Status armed = table_.arm(std::move(arming).value());
  if (!armed.ok()) return error_response(armed.error());
  log_line(LogEvent::kBootArmed, {{"mac", normalised}, {"boot", boot}});
  return {204, {}, ""};
}

HttpResponse BootControlApi::disarm(const std::string& mac) {
  Result<std::string> normalised = normalise_mac(mac);
  if (!normalised.ok()) return error_response(normalised.error());
  table_.disarm(normalised.value());
  return {204, {}, ""};
}

void BootControlApi::poll_claims(const ServerRequest& request, Responder respond) {
  Result<int64_t> after = parse_after(query_value(request.query, "after"));
  if (!after.ok()) return respond(error_response(after.error()));
  bool at_once = query_value(request.query, "wait") == "0";
  if (at_once || !table_.claims_after(after.value()).empty()) {
    return respond(claims_response(after.value()));
  }
  if (polls_.size() >= limits::kBootClaimPolls) answer_poll(polls_.begin());
  const uint64_t connection = request.connection;
  const uint64_t timer = loop_.after(poll_ms_, [this, connection] {
    auto poll = std::find_if(polls_.begin(), polls_.end(),
                             [&](const Poll& each) { return each.connection == connection; });
    if (poll != polls_.end()) answer_poll(poll);
  });
  polls_.push_back({connection, after.value(), timer, std::move(respond)});
}

HttpResponse BootControlApi::claims_response(int64_t after) const {
  Json claims = Json::array();
  for (const Claim& claim : table_.claims_after(after)) {
    claims.push_back({{"n", claim.n},
                      {"boot", claim.boot},
                      {"mac", claim.mac},
                      {"peer", claim.peer},
                      {"count", claim.count},
                      {"at", format_time(claim.at_ms)}});
  }
  return json_response(200, dump_json({{"incarnation", incarnation_}, {"claims", claims}}));
}

void BootControlApi::claims_changed() {
  while (!polls_.empty()) answer_poll(polls_.begin());
}

void BootControlApi::connection_closed(uint64_t connection) {
  for (auto poll = polls_.begin(); poll != polls_.end(); ++poll) {
    if (poll->connection != connection) continue;
    loop_.cancel(poll->timer);
    polls_.erase(poll);
    return;
  }
}

void BootControlApi::answer_poll(std::deque<Poll>::iterator poll) {
  Poll taken = std::move(*poll);
  polls_.erase(poll);
  loop_.cancel(taken.timer);
  taken.respond(claims_response(taken.after));
}

}  // namespace leasehold
