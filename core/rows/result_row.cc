#include "core/rows/result_row.h"

namespace leasehold {

Result<ResultRow> ResultRow::parse(const Json& row) {
  ResultRow result;
  result.result = TRY(json_string(row, "result"));
  result.node = NodeId(TRY(json_string(row, "node")));
  result.run = RunId(TRY(json_string(row, "run")));
  result.pass = TRY(json_int(row, "pass"));
  result.place = TRY(json_string(row, "place"));
  result.kind = TRY(json_string(row, "kind"));
  result.digest = TRY(json_string(row, "digest"));
  result.verdict = TRY(json_string(row, "verdict"));
  result.reason = TRY(json_string(row, "reason"));
  result.envelope = TRY(json_object(row, "envelope"));
  result.chain = TRY(json_array(row, "chain"));
  result.at = TRY(json_string(row, "at"));
  return result;
}

RowChange ResultRow::change() const {
  return RowChange{"result", result,
                   Json{{"table", "result"},
                        {"schema", 1},
                        {"result", result},
                        {"node", node.str()},
                        {"run", run.str()},
                        {"pass", pass},
                        {"place", place},
                        {"kind", kind},
                        {"digest", digest},
                        {"verdict", verdict},
                        {"reason", reason},
                        {"envelope", envelope},
                        {"chain", chain},
                        {"at", at}}};
}

}  // namespace leasehold
