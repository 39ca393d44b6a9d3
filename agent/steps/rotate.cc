#include "agent/steps/rotate.h"

#include <algorithm>
#include <optional>

#include "core/base/log.h"

namespace leasehold {
namespace {

constexpr int64_t kUnreachableWithinMs = 300'000;
constexpr int64_t kAskAgainMs = 10'000;
constexpr int64_t kClosedWithinMs = 30'000;  // an account that was deleted or disabled

enum class Opens { kYes, kNo, kUnknown };

struct Rotation {
  const Tools& tools;
  BmcAddress address;
  VaultVersion fresh;  // this run's pending version
  BmcCredential fresh_credential;
  std::vector<VaultVersion> former;  // as open_bmc tries them
  int64_t proven = 0;                // the number of the one that opened the BMC last
  std::string problem;               // of the last try that gave no answer
};

// The pending version is of an earlier run, which may have sent it.
bool is_reused(const StepContext& context) {
  return !json_member(context.output("metal.rotateBmcCredential/seal"), "reused").is_null();
}

Opens opens(Rotation& rotation, const BmcCredential& credential) {
  std::unique_ptr<Bmc> bmc = rotation.tools.bmcs->open(rotation.address, credential);
  Result<bool> works = bmc->credential_works(credential);
  if (works.ok()) return works.value() ? Opens::kYes : Opens::kNo;
  rotation.problem = works.error().message;
  return Opens::kUnknown;
}

Result<BmcCredential> credential_of(const Tools& tools, const VaultVersion& version) {
  std::string password = TRY(tools.vault->password_of(version));
  return BmcCredential{version.account, std::move(password)};
}

Result<Rotation> load(const Tools& tools, StepContext& context) {
  NodeRow node = TRY(node_of(context));
  Credentials kept = TRY(credentials_of(context));
  Rotation rotation{tools, address_of(node), {}, {}, {}, kept.confirmed->number, {}};
  // The one through which the password was sent, if it was: the confirmed one may be forgotten.
  rotation.proven = json_int_or(*context.memory, "proven", rotation.proven).value_or(0);
  for (const VaultVersion& version : kept.in_order()) {
    bool pending = version.state == VersionState::kPending;
    if (pending && version.run == context.run.id.str() && rotation.fresh.sealed.empty()) {
      rotation.fresh = version;
    } else {
      rotation.former.push_back(version);
    }
  }
  if (rotation.fresh.sealed.empty()) {
    return Error(Code::kInternal, "law credential-kept: no pending credential was sealed");
  }
  rotation.fresh_credential = TRY(credential_of(tools, rotation.fresh));
  return rotation;
}

// What becomes of a former version, all of which the BMC refuses now: the one that opened it last
// is kept, for a BMC that forgets what it has just taken (a reset to its defaults, a lost write).
VaultVersion put_behind(VaultVersion version, const Rotation& rotation) {
  bool last = version.number == rotation.proven;
  version.state = last ? VersionState::kSuperseded : VersionState::kDead;
  version.refused = false;
  if (!last) version.sealed.clear();
  return version;
}

// The new password opens the BMC: it becomes the confirmed one if every other is refused.
StepOutcome promote(Rotation& rotation) {
  Done done;
  for (const VaultVersion& version : rotation.former) {
    Result<BmcCredential> credential = credential_of(rotation.tools, version);
    if (!credential.ok()) return credential.error();
    Opens old = opens(rotation, credential.value());
    if (old == Opens::kYes) {
      return Error(Code::kRotationSplit,
                   "the new password opens the BMC, and so does an old one (version " +
                       std::to_string(version.number) + ")");
    }
    if (old == Opens::kUnknown) {
      return Poll{"is the old password refused? " + rotation.problem, 1000, kUnreachableWithinMs,
                  Code::kRotationSplit};
    }
    VaultVersion after = put_behind(version, rotation);
    // What dies goes first: it makes room for what is superseded.
    bool dies = after.state == VersionState::kDead;
    done.rows.insert(dies ? done.rows.begin() : done.rows.end(), after.change());
  }
  rotation.fresh.state = VersionState::kConfirmed;
  done.rows.push_back(rotation.fresh.change());
  done.output = Json{{"version", rotation.fresh.number}, {"protocols", {"redfish"}}};
  return done;
}

// Sends the new password once, through the first former credential that opens the BMC. `sent` tells
// whether the BMC may have seen it.
Status send_password(Rotation& rotation, bool& sent) {
  for (const VaultVersion& version : rotation.former) {
    BmcCredential credential = TRY(credential_of(rotation.tools, version));
    Opens works = opens(rotation, credential);
    if (works == Opens::kUnknown) return Error(Code::kUnavailable, rotation.problem);
    if (works == Opens::kNo) continue;
    std::unique_ptr<Bmc> bmc = rotation.tools.bmcs->open(rotation.address, credential);
    Status answer = bmc->set_password(version.account, rotation.fresh_credential.password);
    // UNAVAILABLE is the driver's word that nothing was sent.
    sent = answer.ok() || answer.error().code != Code::kUnavailable;
    if (sent) rotation.proven = version.number;
    return answer;
  }
  return Error(Code::kCredentialRefused, "no kept credential opens the BMC");
}

// Whatever was said: is the new password known by now? Spaced, because each no is a failed login.
Poll ask_again(const Rotation& rotation, const HardwareProfile& profile, const std::string& why) {
  int64_t window_ms = profile.rotation_s * 1000;
  std::string more = rotation.problem.empty() ? "" : " (" + rotation.problem + ")";
  return Poll{why + more, std::min(kAskAgainMs, window_ms / 3), window_ms, Code::kRotationSplit};
}

// The BMC said no in so many words. If it keeps to that, the old password is the current one.
StepOutcome settle_refusal(Rotation& rotation, const HardwareProfile& profile, const Error& said) {
  for (const VaultVersion& version : rotation.former) {
    Result<BmcCredential> credential = credential_of(rotation.tools, version);
    if (!credential.ok()) return credential.error();
    Opens old = opens(rotation, credential.value());
    if (old == Opens::kYes) {
      return Error(Code::kRotationRefused,
                   "the BMC keeps the old password; it answered: " + said.message);
    }
    if (old == Opens::kUnknown) return ask_again(rotation, profile, "is the old one current?");
  }
  return Error(Code::kRotationSplit, "neither the new nor an old password opens the BMC");
}

// The enabled accounts that are neither ours nor the profile's.
Result<std::vector<BmcAccount>> strangers(Bmc& bmc, const StepContext& context) {
  NodeRow node = TRY(node_of(context));
  HardwareProfile profile = profile_of(context).value_or(HardwareProfile());
  const std::vector<std::string>& allowed = profile.bmc_accounts;
  std::vector<BmcAccount> accounts = TRY(bmc.accounts());
  std::vector<BmcAccount> found;
  int ours = 0;
  for (BmcAccount& account : accounts) {
    if (account.user_name == node.bmc_user) {
      ++ours;
    } else if (account.enabled &&
               std::find(allowed.begin(), allowed.end(), account.user_name) == allowed.end()) {
      found.push_back(std::move(account));
    }
  }
  if (ours == 1) return found;
  return Error(Code::kBmcAccountLeft, "the BMC lists " + std::to_string(ours) +
                                          " accounts named as ours, so its list is not believed");
}

Poll account_left(StepContext& context, const std::string& why, int64_t within_ms) {
  return Poll{why, next_wait_ms(context), within_ms, Code::kBmcAccountLeft};
}

StepOutcome no_account_list(StepContext& context, const Error& error) {
  if (error.code == Code::kCredentialRefused) return error;
  if (is_passing(error)) return account_left(context, error.message, kUnreachableWithinMs);
  return Error(Code::kBmcAccountLeft, "the BMC's accounts cannot be told: " + error.message);
}

// A former tenant's administrator in the BMC would outlive every rotation of our own password.
// Nothing: no such account is left. Each is closed once; from then on it is only looked at.
std::optional<StepOutcome> sweep_accounts(Bmc& bmc, StepContext& context) {
  Json& memory = *context.memory;
  Result<std::vector<BmcAccount>> found = strangers(bmc, context);
  if (!found.ok()) return no_account_list(context, found.error());
  if (!found.value().empty() && !memory.contains("closing")) {
    std::string why;
    for (const BmcAccount& account : found.value()) {
      Status closed = bmc.close_account(account);
      if (closed.ok()) continue;
      if (closed.error().code == Code::kUnavailable) {
        return account_left(context, closed.error().message, kUnreachableWithinMs);
      }
      why += " (" + closed.error().message + ")";
    }
    memory["closing"] = found.value().size();
    memory["why"] = why;
    found = strangers(bmc, context);
    if (!found.ok()) return no_account_list(context, found.error());
  }
  if (found.value().empty()) return std::nullopt;
  return account_left(context,
                      "account \"" + found.value().front().user_name + "\" is still enabled" +
                          json_text(memory, "why"),
                      kClosedWithinMs);
}

}  // namespace

StepOutcome rotate_seal(const Tools& tools, StepContext& context) {
  Result<Credentials> kept = credentials_of(context);
  if (!kept.ok()) return kept.error();
  if (kept.value().alive() >= limits::kVaultVersionsAlive) {
    // Rotations in a row came to no known end: the newest of them is sent again, since a fourth
    // version would be one more that might open the BMC.
    std::vector<VaultVersion>& pending = kept.value().pending;
    VaultVersion again = pending.empty() ? kept.value().refused.front() : pending.front();
    again.run = context.run.id.str();
    again.refused = false;
    return Done{Json{{"version", again.number}, {"reused", true}}, {again.change()}, {}};
  }
  Result<std::vector<VaultVersion>> all = vault_versions(*context.rows);
  if (!all.ok()) return all.error();
  int64_t highest = 0;
  for (const VaultVersion& version : all.value()) highest = std::max(highest, version.number);
  VaultVersion fresh =
      tools.vault->new_version(*kept.value().confirmed, highest + 1,
                               generate_bmc_password(*tools.random), context.run.id.str());
  return Done{Json{{"version", fresh.number}}, {fresh.change()}, {}};
}

StepOutcome rotate_apply(const Tools& tools, StepContext& context) {
  Result<Rotation> loaded = load(tools, context);
  if (!loaded.ok()) return loaded.error();
  Rotation& rotation = loaded.value();
  HardwareProfile profile = profile_of(context).value_or(HardwareProfile());
  bool sent_now = context.memory->contains("sent");
  // Before the first send the new password cannot work, and a wrong login counts towards a lockout.
  if (sent_now || context.recovering || is_reused(context)) {
    Opens now = opens(rotation, rotation.fresh_credential);
    if (now == Opens::kYes) return promote(rotation);
    // Quirk A11: taken now and known in five minutes. It is not sent again meanwhile, and if it
    // never comes, both are kept.
    if (sent_now || now == Opens::kUnknown) {
      return ask_again(rotation, profile, "the new password does not open the BMC yet");
    }
  }
  bool sent = false;
  Status answer = send_password(rotation, sent);
  if (!sent && answer.error().code == Code::kUnavailable) {
    return ask_again(rotation, profile, answer.error().message);
  }
  if (!sent) return Error(Code::kRotationSplit, answer.error().message);
  (*context.memory)["sent"] = true;
  (*context.memory)["proven"] = rotation.proven;
  Opens now = opens(rotation, rotation.fresh_credential);
  if (now == Opens::kYes) return promote(rotation);
  bool refused = !answer.ok() && !is_passing(answer.error());
  if (now == Opens::kNo && refused) return settle_refusal(rotation, profile, answer.error());
  return ask_again(rotation, profile, "the new password does not open the BMC yet");
}

StepOutcome sweep_sessions(const Tools& tools, StepContext& context) {
  Result<std::unique_ptr<Bmc>> bmc = open_bmc(tools, context);
  if (bmc.ok()) {
    // First, since an account that is left logs in again.
    std::optional<StepOutcome> left = sweep_accounts(*bmc.value(), context);
    if (left.has_value()) return *std::move(left);
  }
  Status swept = bmc.ok() ? bmc.value()->delete_other_sessions() : Status(bmc.error());
  if (swept.ok()) {
    int64_t closed = json_int_or(*context.memory, "closing", 0).value_or(0);
    return Done{Json{{"accountsClosed", closed}, {"sessions", "deleted"}}, {}, {}};
  }
  if (!is_passing(swept.error())) return swept.error();
  return Poll{swept.error().message, next_wait_ms(context), kUnreachableWithinMs,
              Code::kUnavailable};
}

std::vector<RowChange> rotation_failure_rows(const StepContext& context, Code code) {
  std::vector<RowChange> rows;
  // No secret that the BMC has seen is ever given up before another one is confirmed.
  if (code != Code::kRotationRefused) return rows;
  Result<Credentials> kept = credentials_of(context);
  if (!kept.ok()) return rows;
  for (VaultVersion& version : kept.value().pending) {
    if (version.run != context.run.id.str()) continue;
    version.refused = true;
    rows.push_back(version.change());
  }
  return rows;
}

}  // namespace leasehold
