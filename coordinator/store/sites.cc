#include "coordinator/store/sites.h"

#include "coordinator/limits.h"

namespace leasehold::store {
namespace {

constexpr const char* kSelect =
    "SELECT site, created_at, enrolled_at, enrolment, gateway_dns, gateway_ips, token_sha256, "
    "token_until, token_used, contact_at, instance, start_counter, term_at, met_start, "
    "acknowledged, alarm_code, alarm FROM "
    "site WHERE site=?1";
constexpr const char* kSelectAfter =
    "SELECT site, created_at, enrolled_at, enrolment, gateway_dns, gateway_ips, token_sha256, "
    "token_until, token_used, contact_at, instance, start_counter, term_at, met_start, "
    "acknowledged, alarm_code, alarm FROM "
    "site WHERE site>?1 ORDER BY site LIMIT ?2";

std::vector<std::string> texts_of(const std::string& json) {
  std::vector<std::string> texts;
  for (const Json& text : parse_own_json(json).value_or(Json::array())) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

Site site_of(const SqlRow& row) {
  Site site;
  site.site = row.text(0);
  site.created_at_ms = row.integer(1);
  site.enrolled_at_ms = row.integer(2);
  site.enrolment = row.integer(3);
  site.gateway_dns = texts_of(row.text(4));
  site.gateway_ips = texts_of(row.text(5));
  site.token_sha256 = row.text(6);
  site.token_until_ms = row.integer(7);
  site.token_used = row.integer(8) != 0;
  site.contact_at_ms = row.integer(9);
  site.instance = row.text(10);
  site.start_counter = row.integer(11);
  site.term_at_ms = row.integer(12);
  site.met_start = row.text(13);
  site.acknowledged = row.integer(14);
  site.alarm_code = row.text(15);
  site.alarm = row.text(16);
  return site;
}

}  // namespace

Result<std::optional<Site>> find_site(Sql& sql, const std::string& site) {
  std::optional<Site> found;
  TRY(sql.query(kSelect, {site}, [&](const SqlRow& row) { found = site_of(row); }));
  return found;
}

Result<Site> need_site(Sql& sql, const std::string& site) {
  std::optional<Site> found = TRY(find_site(sql, site));
  if (found.has_value()) return std::move(*found);
  return Error(Code::kNotFound, "there is no site \"" + site.substr(0, 64) + "\"", "site");
}

Result<std::vector<Site>> list_sites(Sql& sql, const std::string& after, int64_t limit) {
  std::vector<Site> sites;
  TRY(sql.query(kSelectAfter, {after, limit},
                [&](const SqlRow& row) { sites.push_back(site_of(row)); }));
  return sites;
}

Result<int64_t> count_sites(Sql& sql) {
  int64_t count = 0;
  TRY(sql.query("SELECT count(*) FROM site", {},
                [&](const SqlRow& row) { count = row.integer(0); }));
  return count;
}

Status put_site(Sql& sql, const Site& site) {
  return sql.run(
      "INSERT OR REPLACE INTO site(site, created_at, enrolled_at, enrolment, gateway_dns, "
      "gateway_ips, token_sha256, token_until, token_used, contact_at, instance, start_counter, "
      "term_at, met_start, acknowledged, alarm_code, alarm) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
      "?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
      {site.site, site.created_at_ms, site.enrolled_at_ms, site.enrolment,
       dump_json(site.gateway_dns), dump_json(site.gateway_ips), site.token_sha256,
       site.token_until_ms, int64_t{site.token_used}, site.contact_at_ms, site.instance,
       site.start_counter, site.term_at_ms, site.met_start, site.acknowledged, site.alarm_code,
       site.alarm});
}

Result<bool> is_former_instance(Sql& sql, const Site& site, const std::string& instance) {
  if (instance == site.instance) return false;
  bool found = false;
  TRY(sql.query("SELECT 1 FROM site_instance WHERE site=?1 AND instance=?2", {site.site, instance},
                [&](const SqlRow&) { found = true; }));
  return found;
}

// Kept for a long while: one that comes back after so many others is no clone that lay asleep.
Status add_instance(Sql& sql, const std::string& site, const std::string& instance) {
  TRY(
      sql.run("INSERT OR IGNORE INTO site_instance(site, instance, n) VALUES(?1, ?2, (SELECT "
              "ifnull(max(n), 0)+1 FROM site_instance WHERE site=?1))",
              {site, instance}));
  return sql.run(
      "DELETE FROM site_instance WHERE site=?1 AND n<=(SELECT max(n) FROM site_instance WHERE "
      "site=?1)-?2",
      {site, limits::kInstancesKept});
}

Result<SiteBox> site_box(Sql& sql, const std::string& site) {
  SiteBox found;
  found.site = site;
  TRY(
      sql.query("SELECT box, former, former_box, former_heard_at, former_until FROM site_box WHERE "
                "site=?1",
                {site}, [&](const SqlRow& row) {
                  found.box = row.text(0);
                  found.former = row.text(1);
                  found.former_box = row.text(2);
                  found.former_heard_at_ms = row.integer(3);
                  found.former_until_ms = row.integer(4);
                }));
  return found;
}

Status put_site_box(Sql& sql, const SiteBox& box) {
  return sql.run(
      "INSERT OR REPLACE INTO site_box(site, box, former, former_box, former_heard_at, "
      "former_until) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
      {box.site, box.box, box.former, box.former_box, box.former_heard_at_ms, box.former_until_ms});
}

Status add_site_ca(Sql& sql, const SiteCa& ca) {
  return sql.run(
      "INSERT INTO site_ca(sha256, site, not_after, issued_at, chain) VALUES(?1, ?2, ?3, ?4, ?5)",
      {ca.sha256, ca.site, ca.not_after_ms, ca.issued_at_ms, ca.chain_pem});
}

Result<std::vector<SiteCa>> site_cas(Sql& sql, const std::string& site) {
  std::vector<SiteCa> cas;
  TRY(sql.query(
      "SELECT sha256, site, not_after, issued_at, chain FROM site_ca WHERE site=?1 ORDER "
      "BY issued_at, sha256",
      {site}, [&](const SqlRow& row) {
        cas.push_back({row.text(0), row.text(1), row.integer(2), row.integer(3), row.text(4)});
      }));
  return cas;
}

Result<std::vector<std::pair<std::string, std::string>>> all_site_cas(Sql& sql) {
  std::vector<std::pair<std::string, std::string>> cas;
  TRY(sql.query("SELECT site, sha256 FROM site_ca", {},
                [&](const SqlRow& row) { cas.emplace_back(row.text(0), row.text(1)); }));
  return cas;
}

Status add_certificate(Sql& sql, const Certificate& certificate) {
  return sql.run(
      "INSERT INTO certificate(serial, kind, identity, site, enrolment, not_after, issued_at) "
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
      {certificate.serial, certificate.kind, certificate.identity, certificate.site,
       certificate.enrolment, certificate.not_after_ms, certificate.issued_at_ms});
}

Result<std::optional<Certificate>> find_certificate(Sql& sql, const std::string& serial) {
  std::optional<Certificate> found;
  TRY(
      sql.query("SELECT serial, kind, identity, site, enrolment, not_after, issued_at FROM "
                "certificate WHERE serial=?1",
                {serial}, [&](const SqlRow& row) {
                  found = Certificate{row.text(0),    row.text(1),    row.text(2),   row.text(3),
                                      row.integer(4), row.integer(5), row.integer(6)};
                }));
  return found;
}

}  // namespace leasehold::store
