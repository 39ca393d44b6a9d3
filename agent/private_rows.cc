#include "agent/private_rows.h"

#include <array>

#include "agent/engine/workflow.h"

namespace leasehold {
namespace {

constexpr std::array<std::string_view, 4> kVersionStates = {"pending", "confirmed", "dead",
                                                            "superseded"};

Result<VersionState> version_state(const std::string& name) {
  for (size_t i = 0; i < kVersionStates.size(); ++i) {
    if (kVersionStates[i] == name) return static_cast<VersionState>(i);
  }
  return Error(Code::kInternal, "a credential's state \"" + name + "\" is not known");
}

template <class Row>
Result<std::vector<Row>> parse_all(const Snapshot& rows, const std::string& table) {
  std::vector<Row> out;
  for (const Json* row : rows.all(table)) {
    Result<Row> parsed = Row::parse(*row);
    if (!parsed.ok()) {
      return Error(Code::kInternal, "table " + table + ": " + parsed.error().message);
    }
    out.push_back(std::move(parsed).value());
  }
  return out;
}

}  // namespace

std::string VaultVersion::bound() const {
  return "vault|" + bmc_url + "|" + account + "|" + protocol + "|" + std::to_string(number);
}

Result<VaultVersion> VaultVersion::parse(const Json& row) {
  VaultVersion version;
  version.version_key = TRY(json_string(row, "version"));
  version.node = NodeId(TRY(json_string(row, "node")));
  version.bmc_url = TRY(json_string(row, "bmcUrl"));
  version.account = TRY(json_string(row, "account"));
  version.protocol = TRY(json_string(row, "protocol"));
  version.number = TRY(json_int(row, "number"));
  version.state = TRY(version_state(TRY(json_string(row, "state"))));
  version.sealed = TRY(json_string(row, "sealed"));
  version.run = TRY(json_string(row, "run"));
  version.refused = TRY(json_bool_or(row, "refused", false));
  return version;
}

RowChange VaultVersion::change() const {
  return RowChange{"vault", version_key,
                   Json{{"table", "vault"},
                        {"schema", 1},
                        {"version", version_key},
                        {"node", node.str()},
                        {"bmcUrl", bmc_url},
                        {"account", account},
                        {"protocol", protocol},
                        {"number", number},
                        {"state", kVersionStates[static_cast<size_t>(state)]},
                        {"sealed", sealed},
                        {"run", run},
                        {"refused", refused}}};
}

std::string RamdiskRow::bound() const { return "token|" + boot + "|" + run.str(); }

Result<RamdiskRow> RamdiskRow::parse(const Json& row) {
  RamdiskRow ramdisk;
  ramdisk.boot = TRY(json_string(row, "boot"));
  ramdisk.node = NodeId(TRY(json_string(row, "node")));
  ramdisk.run = RunId(TRY(json_string(row, "run")));
  ramdisk.pass = TRY(json_int(row, "pass"));
  ramdisk.state = TRY(json_string(row, "state"));
  ramdisk.sealed_token = TRY(json_string(row, "sealedToken"));
  ramdisk.boot_nonce = TRY(json_string(row, "bootNonce"));
  ramdisk.life_ms = TRY(json_int(row, "lifeMs"));
  ramdisk.csr_sha256 = TRY(json_string(row, "csrSha256"));
  ramdisk.serial = TRY(json_string(row, "serial"));
  ramdisk.chain_pem = TRY(json_string(row, "chain"));
  return ramdisk;
}

RowChange RamdiskRow::change() const {
  return RowChange{"ramdisk", boot,
                   Json{{"table", "ramdisk"},
                        {"schema", 1},
                        {"boot", boot},
                        {"node", node.str()},
                        {"run", run.str()},
                        {"pass", pass},
                        {"state", state},
                        {"sealedToken", sealed_token},
                        {"bootNonce", boot_nonce},
                        {"lifeMs", life_ms},
                        {"csrSha256", csr_sha256},
                        {"serial", serial},
                        {"chain", chain_pem}}};
}

Result<CommandRow> CommandRow::parse(const Json& row) {
  CommandRow command;
  command.command = TRY(json_string(row, "command"));
  command.node = NodeId(TRY(json_string(row, "node")));
  command.run = RunId(TRY(json_string(row, "run")));
  command.number = TRY(json_int(row, "number"));
  command.boot = TRY(json_string(row, "boot"));
  command.place = TRY(json_string(row, "place"));
  command.verb = TRY(json_string(row, "verb"));
  command.kind = TRY(json_string(row, "kind"));
  command.nonce = TRY(json_string(row, "nonce"));
  command.context = TRY(json_object(row, "context"));
  command.args = TRY(json_object(row, "args"));
  command.refused = TRY(json_string_or(row, "refused", ""));
  return command;
}

RowChange CommandRow::change() const {
  return RowChange{"command", command,
                   Json{{"table", "command"},
                        {"schema", 1},
                        {"command", command},
                        {"node", node.str()},
                        {"run", run.str()},
                        {"number", number},
                        {"boot", boot},
                        {"place", place},
                        {"verb", verb},
                        {"kind", kind},
                        {"nonce", nonce},
                        {"context", context},
                        {"args", args},
                        {"refused", refused}}};
}

Result<std::vector<VaultVersion>> vault_versions(const Snapshot& rows) {
  return parse_all<VaultVersion>(rows, "vault");
}
Result<std::vector<RamdiskRow>> ramdisks(const Snapshot& rows) {
  return parse_all<RamdiskRow>(rows, "ramdisk");
}
Result<std::vector<CommandRow>> commands(const Snapshot& rows) {
  return parse_all<CommandRow>(rows, "command");
}
Result<std::vector<ResultRow>> results(const Snapshot& rows) {
  return parse_all<ResultRow>(rows, "result");
}

}  // namespace leasehold
