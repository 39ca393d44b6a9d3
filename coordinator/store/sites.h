// Sites, their enrolment tokens, the certificates they were given and their recorded site CAs.
// Inside a transaction, on the database's thread; it judges nothing.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/db/database.h"

namespace leasehold::store {

struct Site {
  std::string site;
  int64_t created_at_ms = 0;
  int64_t enrolled_at_ms = 0;  // 0: never
  int64_t enrolment = 0;       // rises with each enrolment
  std::vector<std::string> gateway_dns;
  std::vector<std::string> gateway_ips;
  std::string token_sha256;  // hex; empty: none was made
  int64_t token_until_ms = 0;
  bool token_used = false;
  int64_t contact_at_ms = 0;
  std::string instance;       // of the agent that said hello last
  int64_t start_counter = 0;  // of that agent
  int64_t term_at_ms = 0;     // when its authority was granted last
  std::string met_start;      // the start of the coordinator to which it said that hello
  int64_t acknowledged = 0;   // up to where it has the coordinator's stream
  std::string alarm_code;     // a code's name, or empty
  std::string alarm;
};

Result<std::optional<Site>> find_site(Sql& sql, const std::string& site);
Result<Site> need_site(Sql& sql, const std::string& site);  // NOT_FOUND
Result<std::vector<Site>> list_sites(Sql& sql, const std::string& after, int64_t limit);
Result<int64_t> count_sites(Sql& sql);
Status put_site(Sql& sql, const Site& site);

// Whether this agent said hello before, and another one since.
Result<bool> is_former_instance(Sql& sql, const Site& site, const std::string& instance);
Status add_instance(Sql& sql, const std::string& site, const std::string& instance);

// The boxes that a site's agent runs and ran on. A former agent is one that acted on another box
// and was not shown to have stopped; none if `former` is empty.
struct SiteBox {
  std::string site;
  std::string box;     // of the newest agent; empty: none said hello yet
  std::string former;  // its instance
  std::string former_box;
  int64_t former_heard_at_ms = 0;
  int64_t former_until_ms = 0;  // when it has stopped by itself
};
Result<SiteBox> site_box(Sql& sql, const std::string& site);
Status put_site_box(Sql& sql, const SiteBox& box);

struct SiteCa {
  std::string sha256;  // hex, of the DER
  std::string site;
  int64_t not_after_ms = 0;
  int64_t issued_at_ms = 0;
  std::string chain_pem;
};
Status add_site_ca(Sql& sql, const SiteCa& ca);
// Oldest first; those that have expired too: old evidence is judged by them.
Result<std::vector<SiteCa>> site_cas(Sql& sql, const std::string& site);
// Pairs (site, SHA-256) of all sites, as core/tls Anchors wants them.
Result<std::vector<std::pair<std::string, std::string>>> all_site_cas(Sql& sql);

struct Certificate {
  std::string serial;  // hex
  std::string kind;
  std::string identity;  // its URI
  std::string site;      // or empty
  int64_t enrolment = 0;
  int64_t not_after_ms = 0;
  int64_t issued_at_ms = 0;
};
Status add_certificate(Sql& sql, const Certificate& certificate);
Result<std::optional<Certificate>> find_certificate(Sql& sql, const std::string& serial);

}  // namespace leasehold::store
