#include "core/base/bytes.h"
#include "tests/support/release_world.h"

namespace leasehold::test {
namespace {

class FakeBmc : public Bmc {
 public:
  FakeBmc(FakeMachine& machine, BmcCredential credential)
      : machine_(machine), credential_(std::move(credential)) {}

  Result<PowerState> power_state() override {
    TRY(enter());
    return machine_.on ? PowerState::kOn : PowerState::kOff;
  }
  Status reset(ResetType type) override {
    TRY(enter());
    if (type == ResetType::kOn) {
      machine_.power_on();
    } else {
      machine_.power_off();
    }
    return {};
  }
  Result<BootOverride> boot_override() override {
    TRY(enter());
    return machine_.next_boot;
  }
  Status set_boot_override(const BootOverride& wanted) override {
    TRY(enter());
    machine_.next_boot = wanted;
    return {};
  }
  Result<std::vector<BmcAccount>> accounts() override {
    TRY(enter());
    if (machine_.hides_accounts) return Error(Code::kUnavailable, "Accounts: it lists too few");
    std::vector<BmcAccount> all = machine_.other_accounts;
    all.push_back({"2", "/accounts/2", credential_.user, "Administrator", true});
    return all;
  }
  Status close_account(const BmcAccount& account) override {
    TRY(enter());
    ++machine_.closings;
    if (machine_.keeps_accounts) return Error(Code::kRefused, "the BMC answers 400");
    std::erase_if(machine_.other_accounts,
                  [&](const BmcAccount& other) { return other.id == account.id; });
    return {};
  }
  Status set_password(const std::string&, const std::string& password) override {
    TRY(login());
    using enum FakeMachine::OnSetPassword;
    auto how = machine_.on_set_password;
    if (how == kApply || how == kApplyAndRefuse) {
      machine_.password = password;
      machine_.must_change = false;
    }
    if (how == kGarble) machine_.password = "neither-of-the-two";
    if (how == kRefuse || how == kApplyAndRefuse) {
      return Error(Code::kRefused, "the BMC answers 400");
    }
    return {};
  }
  Result<bool> credential_works(const BmcCredential& credential) override {
    return credential.password == machine_.password ||
           (!machine_.also_opens.empty() && credential.password == machine_.also_opens);
  }
  Status delete_other_sessions() override { return enter(); }
  Result<SystemFacts> system_facts() override {
    TRY(enter());
    return machine_.facts;
  }
  Result<FirmwareInventory> firmware_inventory() override {
    TRY(enter());
    FirmwareInventory inventory;
    for (const auto& [id, version] : machine_.firmware) {
      inventory.items.push_back({id, id, version, true});
    }
    return inventory;
  }

 private:
  // A1: nothing but the password's change before it was changed.
  Status enter() {
    TRY(login());
    if (machine_.must_change) return Error(Code::kRefused, "PasswordChangeRequired");
    return {};
  }
  Status login() {
    if (credential_works(credential_).value()) return {};
    return Error(Code::kCredentialRefused, "the BMC refused the credential");
  }
  FakeMachine& machine_;
  BmcCredential credential_;
};

}  // namespace

std::unique_ptr<Bmc> FakeMachine::open(const BmcAddress&, const BmcCredential& credential) {
  return std::make_unique<FakeBmc>(*this, credential);
}

Result<BmcGreeting> FakeMachine::greet(const BmcAddress& address) {
  if (!address.tls_pin.empty() && address.tls_pin != tls_pin) {
    return Error(Code::kRefused, "the server's certificate is not the pinned one");
  }
  return BmcGreeting{"1.17.0", "Acme", "A BMC", tls_pin};
}

Status FakeMachine::arm(const std::string&, const Json& arming) {
  if (!armed_ever.insert(json_text(arming, "boot")).second) {
    return Error(Code::kConflict, "this boot was armed before");
  }
  armed = arming;
  return {};
}

Status FakeMachine::disarm(const std::string&) {
  armed = Json();
  return {};
}

void FakeMachine::power_on() {
  if (on) return;
  on = true;
  bool network = next_boot.target == BootSourceOverrideTarget::kPxe &&
                 next_boot.enabled != BootSourceOverrideEnabled::kDisabled;
  // An override for once stays in force (quirk B7): the cleanup must clear it.
  if (!network || armed.is_null()) return;
  ramdisk = std::make_unique<Ramdisk>();
  ramdisk->document = armed["document"];
  ramdisk->key = generate_key();
  ramdisk->csr_pem = make_csr(ramdisk->key.private_key_pem).value();
}

void FakeMachine::power_off() {
  on = false;
  ramdisk.reset();
}

}  // namespace leasehold::test
