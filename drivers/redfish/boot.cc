#include "drivers/redfish/boot.h"

#include <array>

namespace leasehold::redfish {
namespace {

constexpr const char* kMode = "BootSourceOverrideMode";

constexpr std::array kTargets = {BootSourceOverrideTarget::kNone, BootSourceOverrideTarget::kPxe,
                                 BootSourceOverrideTarget::kUefiHttp,
                                 BootSourceOverrideTarget::kHdd, BootSourceOverrideTarget::kCd};

const char* enabled_name(BootSourceOverrideEnabled enabled) {
  switch (enabled) {
    case BootSourceOverrideEnabled::kDisabled:
      return "Disabled";
    case BootSourceOverrideEnabled::kOnce:
      return "Once";
    case BootSourceOverrideEnabled::kContinuous:
      return "Continuous";
  }
  return "Disabled";
}

bool is_clear(const BootOverride& boot) {
  return boot.enabled == BootSourceOverrideEnabled::kDisabled ||
         boot.target == BootSourceOverrideTarget::kNone;
}

bool reads_as(const Json& resource, const BootOverride& wanted) {
  auto now = parse_boot_override(resource);
  if (!now.ok()) return false;
  if (is_clear(wanted)) return is_clear(now.value());
  return now.value().target == wanted.target && now.value().enabled == wanted.enabled;
}

// The mode that the machine has, since changing it is not ours; UEFI where it must be or none is
// said.
std::string mode_for(const Json& resource, const BootOverride& wanted) {
  std::string mode = json_text(json_member(resource, "Boot"), kMode);
  if (mode.empty() || wanted.target == BootSourceOverrideTarget::kUefiHttp) return "UEFI";
  return mode;
}

Json body_for(const Json& resource, const BootOverride& wanted, bool with_mode) {
  BootOverride sent = wanted;
  if (is_clear(wanted)) sent = BootOverride{};
  Json boot = {{"BootSourceOverrideTarget", boot_target_name(sent.target)},
               {"BootSourceOverrideEnabled", enabled_name(sent.enabled)}};
  if (with_mode) boot[kMode] = mode_for(resource, wanted);
  return Json{{"Boot", boot}};
}

enum class Advice { kDone, kWithoutMode, kSettings, kLoggedOut, kGiveUp };

// What a refusal says about the form to try next, by message ids and the properties they name.
Advice advice_of(const Reply& reply) {
  if (reply.status == 401) return Advice::kLoggedOut;
  bool read_only = reply.status == 405;
  for (const Message& message : reply.messages) {
    bool not_writable = message.is("PropertyNotWritable") || message.is("PropertyUnknown") ||
                        message.is("PropertyReadOnly");
    if (message.is_failure() && message.names(kMode)) return Advice::kWithoutMode;
    if (not_writable || message.is("OperationSupportedInFutureStateURI")) read_only = true;
  }
  if (read_only) return Advice::kSettings;
  bool failed = !reply.good() || first_failure(reply.messages) != nullptr;
  return failed ? Advice::kGiveUp : Advice::kDone;
}

std::string settings_of(const Json& system) {
  return link_of(json_member(json_member(system, "@Redfish.Settings"), "SettingsObject"));
}

// Writes one override, form after form; at most two per resource and one after a dead token.
class Writer {
 public:
  Writer(Client& client, std::string path, const BootOverride& wanted)
      : client_(client), path_(std::move(path)), wanted_(wanted) {}

  Status run() {
    for (bool first = true;; first = false) {
      Reply current = TRY(client_.get(path_));
      if (!first && reads_as(current.body, wanted_)) return {};
      if (settings_.empty()) settings_ = settings_of(current.body);
      auto sent = client_.patch(path_, body_for(current.body, wanted_, with_mode_), current);
      if (!sent.ok()) {
        if (sent.error().code != Code::kUnavailable && takes_within(1)) return {};
        return std::move(sent).error();
      }
      Advice advice = advice_of(sent.value());
      if (advice == Advice::kDone) return read_back();
      if (!change_form(advice)) return refused(sent.value());
    }
  }

 private:
  bool change_form(Advice advice) {
    if (advice == Advice::kWithoutMode && with_mode_) {
      with_mode_ = false;
    } else if (advice == Advice::kSettings && !settings_.empty() && path_ != settings_) {
      path_ = settings_;
      with_mode_ = true;
    } else if (advice == Advice::kLoggedOut && !logged_out_) {
      logged_out_ = true;
    } else {
      return false;
    }
    return true;
  }

  Status refused(const Reply& reply) {
    if (takes_within(1)) return {};  // the answer was about something else, or came after the act
    Call call;
    call.method = "PATCH";
    call.path = path_;
    Error error = client_.transport().error(call, reply);
    if (reply.good()) error.code = Code::kRefused;
    return error;
  }

  Status read_back() {
    if (takes_within(limits::kBmcReadBackTries)) return {};
    return Error(Code::kRefused, path_ + ": the boot override was accepted and does not read so");
  }

  bool takes_within(int tries) {
    for (int tried = 1;; ++tried) {
      auto now = client_.get(path_);
      if (now.ok() && reads_as(now.value().body, wanted_)) return true;
      if (tried >= tries) return false;
      client_.transport().clock().sleep_ms(limits::kBmcReadBackMs);
    }
  }

  Client& client_;
  std::string path_;
  const BootOverride& wanted_;
  std::string settings_;
  bool with_mode_ = true;
  bool logged_out_ = false;
};

// A clear override may still be set in the Settings object, to take hold at the next reset.
Status clear_settings(Client& client, const std::string& settings, const BootOverride& wanted) {
  if (settings.empty()) return {};
  Reply reply = TRY(client.get_any(settings));
  if (!reply.good() || !json_member(reply.body, "Boot").is_object()) return {};
  if (reads_as(reply.body, wanted)) return {};
  return Writer(client, settings, wanted).run();
}

}  // namespace

Result<BootOverride> parse_boot_override(const Json& resource) {
  const Json& boot = json_member(resource, "Boot");
  if (!boot.is_object()) return Error(Code::kUnsupported, "the BMC shows no Boot object");
  BootOverride read;
  std::string enabled = json_text(boot, "BootSourceOverrideEnabled");
  if (enabled == "Once") read.enabled = BootSourceOverrideEnabled::kOnce;
  if (enabled == "Continuous") read.enabled = BootSourceOverrideEnabled::kContinuous;
  std::string target = json_text(boot, "BootSourceOverrideTarget");
  bool target_known = target.empty();
  for (BootSourceOverrideTarget candidate : kTargets) {
    if (target != boot_target_name(candidate)) continue;
    read.target = candidate;
    target_known = true;
  }
  if (enabled == "Disabled" || target.empty() || target == "None") return read;
  if (!target_known || read.enabled == BootSourceOverrideEnabled::kDisabled) {
    return Error(Code::kUnsupported, "the boot override reads \"" + enabled.substr(0, 32) + " " +
                                         target.substr(0, 32) + "\", which is none that we set");
  }
  return read;
}

Result<BootOverride> read_boot_override(System& system) {
  return parse_boot_override(TRY(system.read()).body);
}

Status write_boot_override(Client& client, System& system, const BootOverride& wanted) {
  Json now = TRY(system.read()).body;
  if (!is_clear(wanted)) return Writer(client, TRY(system.path()), wanted).run();
  if (!reads_as(now, wanted)) TRY(Writer(client, TRY(system.path()), wanted).run());
  return clear_settings(client, settings_of(now), wanted);
}

}  // namespace leasehold::redfish
