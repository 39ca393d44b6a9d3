// A site's enrolment with its one-time token, and the renewal of what it was given. The
// certificates are rows before anybody sees them.
#include "coordinator/api/routes.h"
#include "coordinator/api/site_views.h"
#include "coordinator/limits.h"
#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/log.h"
#include "core/tls/crypto.h"

namespace leasehold {
namespace {

Result<std::vector<std::string>> names_of(const Json& body, const std::string& key) {
  std::vector<std::string> names;
  if (json_member(body, key).is_null()) return names;
  Json list = TRY(json_array(body, key));
  for (const Json& name : list) {
    if (!name.is_string()) return Error(Code::kInvalidInput, "a list of names", key);
    names.push_back(name.get<std::string>());
  }
  return names;
}

Result<GatewayNames> gateway_names_of(const Json& body) {
  GatewayNames names;
  names.dns = TRY(names_of(body, "gatewayDns"));
  names.ips = TRY(names_of(body, "gatewayIps"));
  return names;
}

// Whoever has not the token learns nothing of the site, not even whether there is one.
Result<store::Site> site_of_token(Sql& sql, const Call& call, const std::string& token) {
  const Error refused(Code::kUnauthenticated,
                      "this is not the token that the site was given last; an operator makes a new "
                      "one: leasehold site token SITE",
                      "token");
  std::optional<store::Site> site = TRY(store::find_site(sql, call.args[0]));
  const std::string kept = site.has_value() ? site->token_sha256 : std::string();
  const bool same =
      equal_constant_time(sha256_hex(token), kept.empty() ? std::string(64, '0') : kept);
  if (!site.has_value() || kept.empty() || !same) return refused;
  if (site->token_used) {
    return Error(Code::kUnauthenticated,
                 "the token was used already; if it was not by you, have the site enrolled anew: "
                 "an operator makes a new one",
                 "token");
  }
  if (call.now_ms >= site->token_until_ms) {
    return Error(Code::kUnauthenticated,
                 "the token expired at " + format_time(site->token_until_ms) +
                     "; an operator makes a new one",
                 "token");
  }
  return std::move(*site);
}

// An error names the member of the request.
Result<Issued> in_member(const char* member, Result<Issued> issued) {
  if (!issued.ok() && issued.error().field == "csr") issued.error().field = member;
  return issued;
}

Result<Reply> enrol(const CentreContext& context, Sql& sql, Call& call) {
  TRY(check_keys(call.body,
                 {"token", "siteAgentCsr", "gatewayCsr", "siteCaCsr", "gatewayDns", "gatewayIps"},
                 "an enrolment"));
  const std::string token = TRY(json_string(call.body, "token"));
  const std::string agent_csr = TRY(json_string(call.body, "siteAgentCsr"));
  const std::string gateway_csr = TRY(json_string(call.body, "gatewayCsr"));
  const std::string ca_csr = TRY(json_string(call.body, "siteCaCsr"));
  GatewayNames asked = TRY(gateway_names_of(call.body));
  store::Site site = TRY(site_of_token(sql, call, token));
  GatewayNames names =
      TRY(check_gateway_names(std::move(asked), site.site, context.config->domain));
  site.token_used = true;
  site.enrolment += 1;
  // Whoever was the site's agent is not any more; the new one counts its starts from the beginning.
  site.instance.clear();
  site.start_counter = 0;
  site.enrolled_at_ms = call.now_ms;
  site.gateway_dns = names.dns;
  site.gateway_ips = names.ips;
  const CertificateAuthority& authority = *context.authority;
  Issued agent = TRY(in_member("siteAgentCsr", authority.issue_site_agent(site, agent_csr)));
  Issued gateway = TRY(in_member("gatewayCsr", authority.issue_gateway(site, gateway_csr)));
  Issued ca = TRY(in_member("siteCaCsr", authority.issue_site_ca(site, ca_csr)));
  TRY(store::put_site(sql, site));
  TRY(CertificateAuthority::keep(sql, agent));
  TRY(CertificateAuthority::keep(sql, gateway));
  TRY(authority.keep_site_ca(sql, ca));
  TRY(own_event(sql, call, "site.enrolled", site.site, "",
                {{"enrolment", site.enrolment}, {"siteCa", ca.sha256}}));
  call.touched.insert(site_cas_topic());
  Json recorded = TRY(recorded_cas_json(sql, site.site));
  return reply({{"root", context.config->root_pem},
                {"domain", context.config->domain},
                {"siteAgent", agent.chain_pem},
                {"gateway", gateway.chain_pem},
                {"siteCa", ca.chain_pem},
                {"siteCas", std::move(recorded)}});
}

// A gateway keeps the names that the technician enrolled it with: a site's agent alone widens
// nothing.
Status check_same_names(const store::Site& site, const Json& body) {
  GatewayNames asked = TRY(gateway_names_of(body));
  auto differs = [](const std::vector<std::string>& given, const std::vector<std::string>& kept) {
    return !given.empty() && given != kept;
  };
  if (differs(asked.dns, site.gateway_dns)) {
    return Error(Code::kForbidden,
                 "a gateway keeps the names it was enrolled with; other names need a new enrolment",
                 "gatewayDns");
  }
  if (differs(asked.ips, site.gateway_ips)) {
    return Error(Code::kForbidden,
                 "a gateway keeps the addresses it was enrolled with; others need a new enrolment",
                 "gatewayIps");
  }
  return {};
}

Result<Reply> renew(const CentreContext& context, Sql& sql, Call& call) {
  TRY(check_keys(call.body, {"kind", "csr", "gatewayDns", "gatewayIps"}, "a renewal"));
  const std::string kind = TRY(json_string(call.body, "kind"));
  const std::string csr = TRY(json_string(call.body, "csr"));
  store::Site site = TRY(calling_site(sql, call));
  if (site.enrolment == 0) {
    return Error(Code::kForbidden, "site " + site.site + " was never enrolled here");
  }
  const CertificateAuthority& authority = *context.authority;
  Issued issued;
  if (kind == "site-agent") {
    issued = TRY(authority.issue_site_agent(site, csr));
    TRY(CertificateAuthority::keep(sql, issued));
  } else if (kind == "gateway") {
    TRY(check_same_names(site, call.body));
    issued = TRY(authority.issue_gateway(site, csr));
    TRY(CertificateAuthority::keep(sql, issued));
  } else if (kind == "site-ca") {
    issued = TRY(authority.issue_site_ca(site, csr));
    TRY(authority.keep_site_ca(sql, issued));
    call.touched.insert(site_cas_topic());
    TRY(own_event(sql, call, "site.ca-renewed", site.site, "", {{"siteCa", issued.sha256}}));
  } else {
    return Error(
        Code::kForbidden,
        "a site has site-agent, gateway and site-ca renewed, and no certificate of kind \"" +
            kind.substr(0, 64) + "\"",
        "kind");
  }
  Json recorded = TRY(recorded_cas_json(sql, site.site));
  return reply({{"chain", issued.chain_pem}, {"siteCas", std::move(recorded)}});
}

}  // namespace

std::vector<Route> enrol_routes() {
  return {{"POST", "/v1/sites/*/enrol", MayCall::kAnyone, "", enrol},
          {"POST", "/v1/site/renew", MayCall::kSite, "", renew}};
}

}  // namespace leasehold
