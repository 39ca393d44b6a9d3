#include "coordinator/store/schema.h"

namespace leasehold::store {
namespace {

// A site's number and time are integers; lists and objects are JSON text.
constexpr const char* kStatements[] = {
    // Enrolment raises `enrolment`: certificates of a former one are no longer taken.
    "CREATE TABLE IF NOT EXISTS site(site TEXT PRIMARY KEY NOT NULL, created_at INTEGER NOT NULL, "
    "enrolled_at INTEGER NOT NULL DEFAULT 0, enrolment INTEGER NOT NULL DEFAULT 0, gateway_dns "
    "TEXT NOT NULL DEFAULT '[]', gateway_ips TEXT NOT NULL DEFAULT '[]', token_sha256 TEXT NOT "
    "NULL DEFAULT '', token_until INTEGER NOT NULL DEFAULT 0, token_used INTEGER NOT NULL DEFAULT "
    "0, contact_at INTEGER NOT NULL DEFAULT 0, instance TEXT NOT NULL DEFAULT '', start_counter "
    "INTEGER NOT NULL DEFAULT 0, term_at INTEGER NOT NULL DEFAULT 0, met_start TEXT NOT NULL "
    "DEFAULT '', acknowledged INTEGER NOT NULL DEFAULT 0, alarm_code TEXT NOT NULL "
    "DEFAULT '', alarm TEXT NOT NULL DEFAULT '') WITHOUT ROWID",
    // Agents of a site that said hello; the newest acts.
    "CREATE TABLE IF NOT EXISTS site_instance(site TEXT NOT NULL, instance TEXT NOT NULL, n "
    "INTEGER NOT NULL, PRIMARY KEY(site, instance)) WITHOUT ROWID",
    // On which box the newest runs, and who acted before it on another one.
    "CREATE TABLE IF NOT EXISTS site_box(site TEXT PRIMARY KEY NOT NULL, box TEXT NOT NULL, former "
    "TEXT NOT NULL, former_box TEXT NOT NULL, former_heard_at INTEGER NOT NULL, former_until "
    "INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS site_ca(sha256 TEXT PRIMARY KEY NOT NULL, site TEXT NOT NULL, "
    "not_after INTEGER NOT NULL, issued_at INTEGER NOT NULL, chain TEXT NOT NULL) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS site_ca_site ON site_ca(site)",
    "CREATE TABLE IF NOT EXISTS certificate(serial TEXT PRIMARY KEY NOT NULL, kind TEXT NOT NULL, "
    "identity TEXT NOT NULL, site TEXT NOT NULL, enrolment INTEGER NOT NULL, not_after INTEGER NOT "
    "NULL, issued_at INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS profile_revision(profile TEXT NOT NULL, revision INTEGER NOT NULL, "
    "row TEXT NOT NULL, created_at INTEGER NOT NULL, created_by TEXT NOT NULL, PRIMARY "
    "KEY(profile, revision)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS pool(pool TEXT PRIMARY KEY NOT NULL, site TEXT NOT NULL, row TEXT "
    "NOT NULL) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS pool_site ON pool(site)",
    "CREATE TABLE IF NOT EXISTS pool_revision(pool TEXT NOT NULL, revision INTEGER NOT NULL, "
    "policy TEXT NOT NULL, created_at INTEGER NOT NULL, created_by TEXT NOT NULL, PRIMARY "
    "KEY(pool, revision)) WITHOUT ROWID",
    // What lists are asked by, of the nodes and runs that sites have told of.
    "CREATE TABLE IF NOT EXISTS node_index(site TEXT NOT NULL, node TEXT NOT NULL, pool TEXT NOT "
    "NULL, state TEXT NOT NULL, open_run TEXT NOT NULL DEFAULT '', PRIMARY KEY(site, node)) "
    "WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS node_index_pool ON node_index(pool)",
    "CREATE TABLE IF NOT EXISTS run_index(started_at TEXT NOT NULL, site TEXT NOT NULL, run TEXT "
    "NOT NULL, node TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY(started_at, site, run)) "
    "WITHOUT ROWID",
    "CREATE UNIQUE INDEX IF NOT EXISTS run_index_run ON run_index(site, run)",
    "CREATE INDEX IF NOT EXISTS run_index_node ON run_index(site, node, started_at)",
    "CREATE TABLE IF NOT EXISTS work_index(work TEXT PRIMARY KEY NOT NULL, site TEXT NOT NULL, "
    "node TEXT NOT NULL, kind TEXT NOT NULL, created_at INTEGER NOT NULL, answered_at INTEGER NOT "
    "NULL DEFAULT 0) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS work_index_node ON work_index(site, node)",
    // One line per run evidence that arrived, in the order of arrival.
    "CREATE TABLE IF NOT EXISTS evidence(site TEXT NOT NULL, run TEXT NOT NULL, node TEXT NOT "
    "NULL, lease TEXT NOT NULL, digest TEXT NOT NULL, seq INTEGER NOT NULL, verdict TEXT NOT NULL, "
    "reason TEXT NOT NULL, policy_revision INTEGER NOT NULL, received_at INTEGER NOT NULL, n "
    "INTEGER NOT NULL, PRIMARY KEY(site, run)) WITHOUT ROWID",
    "CREATE UNIQUE INDEX IF NOT EXISTS evidence_n ON evidence(n)",
    "CREATE INDEX IF NOT EXISTS evidence_node ON evidence(site, node, n)",
    "CREATE TABLE IF NOT EXISTS evidence_chain(site TEXT PRIMARY KEY NOT NULL, seq INTEGER NOT "
    "NULL, digest TEXT NOT NULL) WITHOUT ROWID",
    // Run evidence that has arrived and not been judged yet.
    "CREATE TABLE IF NOT EXISTS evidence_pending(site TEXT NOT NULL, run TEXT NOT NULL, PRIMARY "
    "KEY(site, run)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS central_event(n INTEGER PRIMARY KEY, site TEXT NOT NULL, node TEXT "
    "NOT NULL, event TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS central_event_node ON central_event(site, node)",
    "CREATE TABLE IF NOT EXISTS coordinator_state(name TEXT PRIMARY KEY NOT NULL, value INTEGER "
    "NOT "
    "NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS audit(n INTEGER PRIMARY KEY, at INTEGER NOT NULL, who TEXT NOT "
    "NULL, method TEXT NOT NULL, path TEXT NOT NULL, status INTEGER NOT NULL, code TEXT NOT NULL, "
    "detail TEXT NOT NULL)",
};

}  // namespace

Status migrate(Sql& sql) {
  for (const char* statement : kStatements) TRY(sql.run(statement));
  return {};
}

}  // namespace leasehold::store
