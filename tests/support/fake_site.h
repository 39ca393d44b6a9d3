// A site as a coordinator sees it: a real database with the real streams of core/sync, and a caller
// of the API where the agent has threads. Each call is one turn, so that a test says what happens
// when. Tests only, one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/db/row_store.h"
#include "core/sync/position.h"
#include "tests/support/coordinator_rig.h"

namespace leasehold::test {

class FakeSite {
 public:
  // How a request reaches the coordinator: method, target, body.
  using Send = std::function<Answer(const std::string&, const std::string&, const std::string&)>;
  FakeSite(CoordinatorRig& rig, Signer agent, std::string instance = "i-1",
           std::string site = "s1");
  // To a coordinator behind a socket; `where` is the folder of the database.
  FakeSite(Send send, const std::string& where, std::string instance, std::string site);

  void put(const RowChange& change);
  Json row(const std::string& table, const std::string& key);

  Answer hello(int64_t start_counter = 1);
  Answer stopped();  // after SUPERSEDED
  // Says hello until both streams can go on. Answers the last verdict.
  std::string meet(int64_t start_counter = 1);
  // One message; 0 if there was nothing to send.
  int push_one();
  void push_all();
  Answer push_text(const std::string& text);
  Answer pull();
  void pull_all();
  Json compare_hashes();  // the coordinator's answer about the site's tables
  void sync() {
    push_all();
    pull_all();
  }

  std::string instance;
  std::string box = "box-1";
  Signer agent;

 private:
  sync::Position position();
  void fetch(const sync::ChunkRequest& want);
  void run(const std::function<Status(Sql&)>& transaction);

  void open(const std::string& where);
  Answer post(const std::string& target, const Json& body);

  Send send_;
  SystemRandom random_;
  sync::End end_;
  TempFolder folder_{TempFolder::Where::kMemory};
  std::unique_ptr<Database> database_;
  sync::Position theirs_;
};

// Rows as a site makes them.
RowChange node_row(const std::string& node, const std::string& state,
                   const std::string& clean_run = "");
RowChange run_row(const std::string& run, const std::string& node, const std::string& state);
// The `result` rows of a bundle, run evidence last.
std::vector<RowChange> result_rows(const Bundle& bundle);

}  // namespace leasehold::test
