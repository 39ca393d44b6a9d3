#include "drivers/redfish/message.h"

#include <strings.h>

#include <algorithm>

#include "core/base/limits.h"

namespace leasehold::redfish {
namespace {

constexpr std::string_view kExtendedInfo = "@Message.ExtendedInfo";

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string last_part(const std::string& message_id) {
  size_t dot = message_id.rfind('.');
  return dot == std::string::npos ? message_id : message_id.substr(dot + 1);
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Json& entry : list) {
    if (entry.is_string()) out.push_back(entry.get<std::string>());
    if (out.size() >= limits::kBmcMessages) break;
  }
  return out;
}

Message from_object(const Json& entry) {
  Message message;
  message.id = last_part(json_text(entry, "MessageId"));
  message.severity = json_text(entry, "MessageSeverity");
  if (message.severity.empty()) message.severity = json_text(entry, "Severity");
  message.text = json_text(entry, "Message");
  message.args = texts(json_member(entry, "MessageArgs"));
  message.related = texts(json_member(entry, "RelatedProperties"));
  return message;
}

Message from_string(const std::string& text) {
  Message message;
  bool looks_like_id = text.find('.') != std::string::npos && text.find(' ') == std::string::npos;
  (looks_like_id ? message.id : message.text) = looks_like_id ? last_part(text) : text;
  return message;
}

class Collector {
 public:
  std::vector<Message> found;

  void walk(const Json& value) {
    if (value.is_array()) {
      for (const Json& entry : value) walk(entry);
    }
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.items()) {
      if (key.ends_with(kExtendedInfo)) {
        take(member, key.substr(0, key.size() - kExtendedInfo.size()));
      } else {
        walk(member);
      }
    }
  }

 private:
  void take(const Json& info, const std::string& property) {
    if (info.is_array()) {
      for (const Json& entry : info) take(entry, property);
      return;
    }
    if (found.size() >= limits::kBmcMessages) return;
    if (!info.is_object() && !info.is_string()) return;
    found.push_back(info.is_object() ? from_object(info) : from_string(info.get<std::string>()));
    found.back().property = property;
  }
};

}  // namespace

bool Message::is(std::string_view message_id) const { return same(id, message_id); }

bool Message::names(std::string_view property_name) const {
  if (property == property_name) return true;
  auto ends = [&](const std::string& pointer) {
    size_t slash = pointer.find_last_of("/.");
    return (slash == std::string::npos ? pointer : pointer.substr(slash + 1)) == property_name;
  };
  return std::any_of(args.begin(), args.end(), ends) ||
         std::any_of(related.begin(), related.end(), ends);
}

bool Message::is_failure() const {
  if (is("Success") || is("Created") || is("NoOperation")) return false;
  return !same(severity, "OK") && !same(severity, "Informational");
}

std::vector<Message> extended_messages(const Json& body) {
  Collector collector;
  collector.walk(body);
  const Json& error = json_member(body, "error");
  if (error.is_object()) {
    // Some answers carry the id as the error's code alone (BR-07).
    Message general = from_string(json_text(error, "code"));
    general.text = json_text(error, "message");
    bool said = general.id.empty() || same(general.id, "GeneralError");
    if (!said || collector.found.empty()) collector.found.push_back(general);
  } else if (error.is_string()) {
    collector.found.push_back(from_string(error.get<std::string>()));
  }
  return collector.found;
}

bool any_message(const std::vector<Message>& messages, std::string_view message_id) {
  return std::any_of(messages.begin(), messages.end(),
                     [&](const Message& message) { return message.is(message_id); });
}

const Message* first_failure(const std::vector<Message>& messages) {
  for (const Message& message : messages) {
    if (message.is_failure()) return &message;
  }
  return nullptr;
}

}  // namespace leasehold::redfish
