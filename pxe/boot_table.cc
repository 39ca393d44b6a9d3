#include "pxe/boot_table.h"

#include "core/base/bytes.h"
#include "core/base/limits.h"

namespace leasehold {

Result<std::string> normalise_mac(std::string_view text) {
  const Error wrong(Code::kInvalidInput, "a MAC address is six pairs of hex digits with ':' or '-'",
                    "mac");
  if (text.size() != 17) return wrong;
  const char separator = text[2];
  if (separator != ':' && separator != '-') return wrong;
  std::string mac;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (i % 3 == 2) {
      if (c != separator) return wrong;
      mac += ':';
      continue;
    }
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return wrong;
    mac += c;
  }
  return mac;
}

Status BootTable::arm(Arming arming) {
  expire();
  if (records_.count(arming.boot) != 0) {
    return Error(Code::kConflict,
                 "boot " + arming.boot + " was armed before; a boot id is used for one power-on",
                 "boot");
  }
  if (armed_.size() >= limits::kBootArmed && armed_.count(arming.mac) == 0) {
    return Error(Code::kUnavailable, std::to_string(limits::kBootArmed) + " MACs are armed");
  }
  disarm(arming.mac);
  remember(arming.boot, arming.mac);
  Armed& entry = armed_[arming.mac];
  entry.until_ms = clock_.monotonic_ms() + arming.seconds * 1000;
  entry.arming = std::move(arming);
  return {};
}

void BootTable::disarm(const std::string& mac) {
  auto it = armed_.find(mac);
  if (it == armed_.end()) return;
  wipe_secret(it->second.arming.document);
  armed_.erase(it);
}

const Arming* BootTable::find(const std::string& mac) {
  expire();
  auto it = armed_.find(mac);
  return it == armed_.end() ? nullptr : &it->second.arming;
}

BootTable::Taken BootTable::take_document(const std::string& boot, const std::string& peer) {
  expire();
  auto record = records_.find(boot);
  if (record == records_.end()) return {};
  Taken taken;
  taken.mac = record->second.mac;
  if (record->second.claims == 0) {
    auto it = armed_.find(record->second.mac);
    if (it == armed_.end() || it->second.arming.boot != boot) return {};
    taken.take = Take::kGiven;
    taken.document = it->second.arming.document;
    wipe_secret(it->second.arming.document);
  } else {
    taken.take = Take::kGone;
  }
  taken.count = ++record->second.claims;
  append_claim(boot, record->second, peer);
  return taken;
}

std::vector<Claim> BootTable::claims_after(int64_t after) const {
  if (after > last_claim_) after = 0;
  std::vector<Claim> found;
  for (const Claim& claim : claims_) {
    if (claim.n > after) found.push_back(claim);
  }
  return found;
}

void BootTable::expire() {
  const int64_t now_ms = clock_.monotonic_ms();
  for (auto it = armed_.begin(); it != armed_.end();) {
    if (it->second.until_ms > now_ms) {
      ++it;
      continue;
    }
    wipe_secret(it->second.arming.document);
    it = armed_.erase(it);
  }
}

void BootTable::append_claim(const std::string& boot, const Record& record,
                             const std::string& peer) {
  // A machine that hammers one document must not push the claims of others out.
  if (record.claims > limits::kBootClaimsPerBoot) return;
  claims_.push_back({++last_claim_, boot, record.mac, peer, record.claims, clock_.now_ms()});
  if (claims_.size() > limits::kBootClaims) claims_.pop_front();
}

void BootTable::remember(const std::string& boot, const std::string& mac) {
  records_[boot] = {mac, 0};
  record_order_.push_back(boot);
  if (record_order_.size() <= limits::kBootRecords) return;
  // The oldest is forgotten. If it is armed still it must not stay so: its claims would go unseen.
  const std::string oldest = record_order_.front();
  record_order_.pop_front();
  auto armed = armed_.find(records_[oldest].mac);
  if (armed != armed_.end() && armed->second.arming.boot == oldest) disarm(armed->first);
  records_.erase(oldest);
}

}  // namespace leasehold
