#include "core/base/bytes.h"

#include <array>
#include <cstdint>

namespace leasehold {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

constexpr std::array<int8_t, 256> make_base64_values() {
  std::array<int8_t, 256> values{};
  for (auto& value : values) value = -1;
  for (size_t i = 0; i < kBase64.size(); ++i) {
    values[static_cast<uint8_t>(kBase64[i])] = static_cast<int8_t>(i);
  }
  return values;
}
constexpr auto kBase64Values = make_base64_values();

std::string encode(std::string_view bytes, std::string_view alphabet, bool pad) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = (group << 8) | (j < count ? static_cast<uint8_t>(bytes[i + j]) : 0);
    }
    for (size_t j = 0; j < 4; ++j) {
      if (j <= count) {
        out += alphabet[(group >> (18 - 6 * j)) & 63];
      } else if (pad) {
        out += '=';
      }
    }
  }
  return out;
}

}  // namespace

std::string hex_encode(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (char c : bytes) {
    auto byte = static_cast<uint8_t>(c);
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

Result<std::string> hex_decode(std::string_view text) {
  if (text.size() % 2 != 0) return Error(Code::kMalformed, "hex text of odd length");
  std::string out;
  for (size_t i = 0; i < text.size(); i += 2) {
    int high = hex_value(text[i]);
    int low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) return Error(Code::kMalformed, "not lower-case hex");
    out += static_cast<char>(high << 4 | low);
  }
  return out;
}

std::string base64_encode(std::string_view bytes) { return encode(bytes, kBase64, true); }
std::string base64url_encode(std::string_view bytes) { return encode(bytes, kBase64Url, false); }

Result<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return Error(Code::kMalformed, "base64 text not padded to 4");
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  size_t length = text.size() - padding;
  for (size_t i = 0; i < length; ++i) {
    int value = kBase64Values[static_cast<uint8_t>(text[i])];
    if (value < 0) return Error(Code::kMalformed, "foreign character in base64");
    group = (group << 6) | static_cast<uint32_t>(value);
    if (i % 4 != 3) continue;
    out += static_cast<char>(group >> 16);
    out += static_cast<char>(group >> 8);
    out += static_cast<char>(group);
    group = 0;
  }
  if (padding == 1) {
    if (group & 3) return Error(Code::kMalformed, "slack bits in base64");
    out += static_cast<char>(group >> 10);
    out += static_cast<char>(group >> 2);
  } else if (padding == 2) {
    if (group & 15) return Error(Code::kMalformed, "slack bits in base64");
    out += static_cast<char>(group >> 4);
  }
  return out;
}

bool equal_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile uint8_t difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference = difference | (static_cast<uint8_t>(a[i]) ^ static_cast<uint8_t>(b[i]));
  }
  return difference == 0;
}

void wipe_secret(std::string& secret) {
  volatile char* bytes = secret.data();
  for (size_t i = 0; i < secret.size(); ++i) bytes[i] = 0;
  secret.clear();
}

}  // namespace leasehold
