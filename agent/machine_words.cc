#include "agent/machine_words.h"

#include <algorithm>
#include <charconv>

namespace leasehold {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_hex(const std::string& text) {
  return text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Error no_url(const std::string& text) {
  return Error(Code::kInvalidInput, "\"" + text.substr(0, 80) +
                                        "\" is no BMC's address; write https://10.0.0.7 or " +
                                        "https://bmc.example.net:8443");
}

bool is_port(const std::string& text) {
  int port = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  return problem == std::errc() && end == text.data() + text.size() && port > 0 && port < 65536;
}

// "[fe80::1]" or a name or an IPv4 address.
bool is_host(const std::string& host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    std::string inside = host.substr(1, host.size() - 2);
    return inside.find_first_not_of("0123456789abcdef:.") == std::string::npos;
  }
  return !host.empty() && host.size() < 254 && host.front() != '-' && host.front() != '.' &&
         host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos;
}

}  // namespace

bool is_mac(const std::string& text) {
  if (text.size() != 17) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    bool hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (i % 3 == 2 ? text[i] != ':' : !hex) return false;
  }
  return true;
}

Result<std::string> normal_mac_of(const std::string& text) {
  std::string mac = lower(text);
  std::replace(mac.begin(), mac.end(), '-', ':');
  if (is_mac(mac)) return mac;
  return Error(Code::kInvalidInput, "a MAC looks like 52:54:00:77:00:01");
}

Result<std::string> normal_bmc_url(const std::string& text) {
  std::string rest = lower(text);
  size_t scheme = rest.find("://");
  if (scheme != std::string::npos) {
    if (rest.substr(0, scheme) != "https") return no_url(text);
    rest = rest.substr(scheme + 3);
  }
  while (!rest.empty() && rest.back() == '/') rest.pop_back();
  size_t colon = rest.rfind(':');
  size_t bracket = rest.rfind(']');
  bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  std::string host = has_port ? rest.substr(0, colon) : rest;
  std::string port = has_port ? rest.substr(colon + 1) : "443";
  if (!is_host(host) || !is_port(port)) return no_url(text);
  return "https://" + host + (port == "443" ? "" : ":" + port);
}

Result<std::string> normal_tls_pin(const std::string& text) {
  std::string pin = lower(text);
  std::erase(pin, ':');
  if (pin.size() == 64 && is_hex(pin)) return pin;
  return Error(Code::kInvalidInput, "a pin is the SHA-256 of the BMC's certificate: 64 hex digits");
}

}  // namespace leasehold
