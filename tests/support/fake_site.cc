#include "tests/support/fake_site.h"

#include <stdexcept>

#include "core/rows/result_row.h"
#include "core/rows/site_rows.h"
#include "core/sync/meet.h"
#include "core/sync/snapshot.h"
#include "core/sync/table_hash.h"

namespace leasehold::test {

FakeSite::FakeSite(CoordinatorRig& rig, Signer signer, std::string name, std::string site)
    : instance(std::move(name)), agent(std::move(signer)), end_(sync::End::of_site(site)) {
  send_ = [this, &rig](const std::string& method, const std::string& target,
                       const std::string& text) {
    return rig.call_text(method, target, text, &agent, instance);
  };
  open(folder_.path());
}

FakeSite::FakeSite(Send send, const std::string& where, std::string name, std::string site)
    : instance(std::move(name)), send_(std::move(send)), end_(sync::End::of_site(site)) {
  open(where);
}

void FakeSite::open(const std::string& where) {
  Database::Options options;
  options.path = where + "/site.db";
  options.deliver = [](std::function<void()> task) { task(); };
  database_ = Database::open(std::move(options), [&](Sql& sql) -> Status {
                TRY(row_store::migrate(sql, random_));
                return sync::migrate(sql);
              }).value();
}

Answer FakeSite::post(const std::string& target, const Json& body) {
  return send_("POST", target, dump_json(body));
}

void FakeSite::run(const std::function<Status(Sql&)>& transaction) {
  database_->transact_and_wait(transaction).value();
}

void FakeSite::put(const RowChange& change) {
  run([&](Sql& sql) { return row_store::put(sql, change); });
}

Json FakeSite::row(const std::string& table, const std::string& key) {
  Json found;
  run([&](Sql& sql) -> Status {
    found = TRY(row_store::get(sql, table, key));
    return {};
  });
  return found;
}

sync::Position FakeSite::position() {
  sync::Position found;
  run([&](Sql& sql) -> Status {
    found = TRY(sync::position(sql, end_));
    return {};
  });
  return found;
}

Answer FakeSite::hello(int64_t start_counter) {
  return post("/v1/sync/hello", {{"instance", instance},
                                 {"box", box},
                                 {"startCounter", start_counter},
                                 {"stream", sync::position_json(position())}});
}

Answer FakeSite::stopped() { return post("/v1/sync/stopped", Json::object()); }

std::string FakeSite::meet(int64_t start_counter) {
  std::string verdict;
  for (int i = 0; i < 16; ++i) {
    Answer answer = hello(start_counter);
    if (answer.status != 200) return answer.code();
    const std::string said = json_text(answer.body, "verdict");
    if (said == "superseded") return said;
    if (verdict.empty() || said == "restored") verdict = said;
    theirs_ = sync::parse_position(answer.body["stream"]).value();
    sync::Meeting meeting;
    run([&](Sql& sql) -> Status {
      meeting = TRY(sync::meet(sql, end_, theirs_, random_));
      return {};
    });
    bool fetched = false;
    for (const sync::ChunkRequest& want : meeting.position.wants) {
      if (want.owner != RowOwner::kSite) continue;
      fetch(want);
      fetched = true;
    }
    if (!fetched && meeting.mine != sync::Standing::kRestored && !meeting.position.restoring) {
      return verdict;
    }
  }
  throw std::runtime_error("the streams do not come together");
}

void FakeSite::fetch(const sync::ChunkRequest& want) {
  Answer answer = post("/v1/sync/chunk", sync::chunk_request_json(want));
  if (answer.status != 200) throw std::runtime_error("no chunk: " + answer.text);
  sync::Chunk chunk = sync::decode_chunk(answer.text).value();
  sync::ChunkApplied applied;
  run([&](Sql& sql) -> Status {
    applied = TRY(sync::apply_chunk(sql, end_, chunk, random_));
    return {};
  });
  if (applied.next.has_value()) fetch(*applied.next);
}

Answer FakeSite::push_text(const std::string& text) {
  Answer answer = send_("POST", "/v1/sync/push", text);
  if (answer.status == 200) theirs_ = sync::parse_position(answer.body["cursor"]).value();
  return answer;
}

int FakeSite::push_one() {
  std::string text;
  run([&](Sql& sql) -> Status {
    if (!theirs_.wants.empty()) {
      text = TRY(sync::read_chunk(sql, end_, theirs_.wants.front()));
      return {};
    }
    sync::Outgoing out = TRY(sync::read_batch(sql, end_, theirs_.peer));
    if (out.must_refetch || out.upto > theirs_.peer.seq) text = std::move(out.text);
    return {};
  });
  if (text.empty()) return 0;
  Answer answer = push_text(text);
  if (answer.status != 200) throw std::runtime_error("not pushed: " + answer.text);
  return 1;
}

void FakeSite::push_all() {
  while (push_one() != 0) continue;
}

Answer FakeSite::pull() {
  sync::Position mine = position();
  for (const sync::ChunkRequest& want : mine.wants) {
    if (want.owner == RowOwner::kCoordinator) fetch(want);
  }
  mine = position();
  Answer answer = post("/v1/sync/pull", {{"cursor", sync::cursor_json(mine.peer)}, {"wait", 0}});
  if (answer.status != 200) return answer;
  sync::Batch batch = sync::decode_batch(answer.text).value();
  run([&](Sql& sql) -> Status {
    sync::Applied applied = TRY(sync::apply_batch(sql, end_, batch));
    if (applied.must_refetch) return sync::want_snapshot(sql, end_, random_);
    return {};
  });
  return answer;
}

void FakeSite::pull_all() {
  for (int i = 0; i < 4; ++i) {
    Answer answer = pull();
    if (answer.status != 200) throw std::runtime_error("not pulled: " + answer.text);
  }
}

Json FakeSite::compare_hashes() {
  sync::TableHashes hashes;
  run([&](Sql& sql) -> Status {
    hashes = TRY(sync::table_hashes(sql, end_, RowOwner::kSite));
    return {};
  });
  return post("/v1/sync/hashes", sync::table_hashes_json(hashes)).body;
}

RowChange node_row(const std::string& node, const std::string& state,
                   const std::string& clean_run) {
  NodeRow row;
  row.id = NodeId(node);
  row.site = "s1";
  row.pool = PoolId("h100");
  row.state = node_state_from(state).value();
  const bool ready = state == "ready";
  row.trust = ready ? Trust::kPlatform : Trust::kTenantControlled;
  row.tenant_root = !ready;
  row.generation = 4;
  row.clean_run = clean_run;
  if (!ready) row.lease = LeaseId("l-1");
  row.bmc_url = "https://192.0.2.9";
  row.bmc_user = "admin";
  row.boot_mac = "52:54:00:77:00:10";
  return row.change();
}

RowChange run_row(const std::string& run, const std::string& node, const std::string& state) {
  return {"run",
          run,
          {{"table", "run"},
           {"schema", 1},
           {"run", run},
           {"node", node},
           {"lease", "l-1"},
           {"workflow", "metal-tenant-root-release@1"},
           {"state", state},
           {"startedAt", format_time(kNow)},
           {"finishedAt", state == "open" ? "" : format_time(kNow + kHour)}}};
}

std::vector<RowChange> result_rows(const Bundle& bundle) {
  std::vector<RowChange> rows;
  auto add = [&](const SignedEnvelope& envelope, const std::string& key, const std::string& kind) {
    ResultRow row;
    row.result = key;
    row.node = NodeId(bundle.node);
    row.run = RunId(bundle.run);
    row.kind = kind;
    row.digest = envelope.envelope.digest();
    row.verdict = kind == "run" ? "clean" : "PASS";
    row.envelope = envelope.envelope.to_json();
    row.chain = envelope.chain_pem;
    row.at = format_time(kNow);
    rows.push_back(row.change());
  };
  int number = 0;
  for (const SignedEnvelope& result : bundle.results) {
    add(result, bundle.run + "-c" + std::to_string(++number), "disk-wipe");
  }
  add(bundle.evidence, bundle.run + "-evidence", "run");
  return rows;
}

}  // namespace leasehold::test
