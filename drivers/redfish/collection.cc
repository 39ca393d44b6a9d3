#include "drivers/redfish/collection.h"

#include <set>

#include "core/base/limits.h"

namespace leasehold::redfish {
namespace {

void incomplete(Collection& collection, const std::string& why) {
  if (collection.complete) collection.why = why;
  collection.complete = false;
}

// Takes one page's members; returns the next page's path or "".
std::string take_page(Collection& collection, const Reply& page) {
  const Json& members = json_member(page.body, "Members");
  if (!members.is_array()) {
    incomplete(collection, "it has no Members");
    return "";
  }
  if (const Message* failure = first_failure(page.messages)) {
    incomplete(collection, "it carries the error " + failure->id);
  }
  for (const Json& member : members) {
    if (collection.members.size() >= limits::kBmcCollectionMembers) {
      incomplete(collection, "it has too many members");
      return "";
    }
    collection.members.push_back(member);
  }
  return path_of(json_text(page.body, "Members@odata.nextLink"));
}

}  // namespace

Result<Collection> read_collection(const Getter& get, const std::string& path) {
  Collection collection;
  std::set<std::string> seen;
  Json announced;
  for (std::string next = path; !next.empty();) {
    if (!seen.insert(next).second) {
      incomplete(collection, "its pages go round in a circle");
      break;
    }
    if (seen.size() > static_cast<size_t>(limits::kBmcCollectionPages)) {
      incomplete(collection, "it has too many pages");
      break;
    }
    auto page = get(next);
    if (!page.ok()) {
      if (seen.size() == 1) return std::move(page).error();
      incomplete(collection, "a page cannot be read: " + page.error().message);
      break;
    }
    if (seen.size() == 1) announced = json_member(page.value().body, "Members@odata.count");
    next = take_page(collection, page.value());
  }
  if (announced.is_number_integer() &&
      announced.get<int64_t>() != static_cast<int64_t>(collection.members.size())) {
    incomplete(collection, "it announces " + dump_json(announced) + " members and lists " +
                               std::to_string(collection.members.size()));
  }
  return collection;
}

Result<Reply> read_member(const Getter& get, const Json& member) {
  std::string path = link_of(member);
  if (path.empty() && json_member(member, "Id").is_string()) {
    Reply reply;
    reply.status = 200;
    reply.body = member;
    return reply;
  }
  if (path.empty()) return Error(Code::kMalformed, "a member of a collection has no link");
  Reply reply = TRY(get(path));
  if (!reply.body.is_object()) return Error(Code::kMalformed, "GET " + path + ": not an object");
  return reply;
}

}  // namespace leasehold::redfish
