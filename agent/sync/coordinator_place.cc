#include "agent/sync/coordinator_place.h"

#include <algorithm>
#include <charconv>

namespace leasehold {
namespace {

constexpr std::string_view kScheme = "https://";

bool is_port(std::string_view text) {
  int port = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  return problem == std::errc() && end == text.data() + text.size() && port > 0 && port < 65536;
}

bool is_address(std::string_view text) {
  return !text.empty() && text.size() <= 45 && std::all_of(text.begin(), text.end(), [](char c) {
    return std::string_view("0123456789abcdef.:").find(c) != std::string_view::npos;
  });
}

// "host", "host:port", "[::1]:port" -> host without brackets; empty if it has none of these forms.
std::string host_of(std::string_view authority, bool port_needed) {
  size_t colon = authority.rfind(':');
  bool bracketed = authority.starts_with('[');
  size_t close = authority.find(']');
  if (bracketed && close == std::string_view::npos) return "";
  bool has_port = colon != std::string_view::npos && (!bracketed || colon == close + 1);
  if (has_port && !is_port(authority.substr(colon + 1))) return "";
  if (!has_port && (port_needed || (bracketed && close + 1 != authority.size()))) return "";
  std::string_view host = has_port ? authority.substr(0, colon) : authority;
  if (bracketed) host = authority.substr(1, close - 1);
  bool fits = bracketed ? is_address(host) : is_valid_host_name(host);
  return fits ? std::string(host) : "";
}

}  // namespace

Result<CoordinatorPlace> parse_coordinator_place(const std::string& url,
                                                 const std::string& address) {
  CoordinatorPlace place;
  std::string_view rest = url;
  bool https = rest.starts_with(kScheme);
  if (https) rest.remove_prefix(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  place.host = https ? host_of(rest, false) : "";
  if (place.host.empty()) {
    return Error(Code::kInvalidInput,
                 "the coordinator's URL looks like https://coordinator.example.net:8440, in lower "
                 "case and with nothing behind the port",
                 "url");
  }
  place.url = std::string(kScheme) + std::string(rest);
  place.address = address;
  if (!address.empty() && host_of(address, true).empty()) {
    return Error(Code::kInvalidInput, "an address to connect to looks like 192.0.2.7:8440",
                 "address");
  }
  return place;
}

Status judge_coordinator(const std::vector<std::string>& chain_der, const CoordinatorPlace& place,
                         const Anchors& anchors, int64_t instant_ms) {
  JudgeRequest request;
  request.chain_der = chain_der;
  request.instant_ms = instant_ms;
  request.verb = Verb::kSyncRows;
  request.host = place.host;
  Judgement judgement = judge(request, anchors);
  if (!judgement.allowed) {
    return Error(Code::kForbidden,
                 std::string(chain_refusal_name(judgement.refusal)) + ": " + judgement.detail);
  }
  if (judgement.identity.kind == IdentityKind::kCoordinator) return {};
  return Error(
      Code::kForbidden,
      "the server is a " + std::string(kind_name(judgement.identity.kind)) + ", not a coordinator");
}

}  // namespace leasehold
