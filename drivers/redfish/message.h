// What a BMC says beside a status: Message.ExtendedInfo in every shape seen (object, list, list of
// strings, under a property's name, at any depth; quirks P1 to P5). Values only, any thread. Never
// decides by English text. The words are the BMC's: they may echo a secret (P6), so only
// Transport::error, which scrubs them, quotes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"

namespace leasehold::redfish {

struct Message {
  std::string id;        // last part of the MessageId, as sent: "PropertyNotWritable"
  std::string property;  // of "Boot@Message.ExtendedInfo": "Boot"; or ""
  std::string severity;  // MessageSeverity or Severity; or ""
  std::string text;
  std::vector<std::string> args;     // MessageArgs
  std::vector<std::string> related;  // RelatedProperties, JSON pointers

  bool is(std::string_view message_id) const;  // compares without case
  // Does it speak about that property (as its annotation, an argument or a related pointer)?
  bool names(std::string_view property_name) const;
  // Not said to be success or information: a 2xx that carries one is not believed (P3, P4).
  bool is_failure() const;
};

std::vector<Message> extended_messages(const Json& body);

bool any_message(const std::vector<Message>& messages, std::string_view message_id);
const Message* first_failure(const std::vector<Message>& messages);

}  // namespace leasehold::redfish
