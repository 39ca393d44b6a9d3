#include "drivers/redfish/system.h"

namespace leasehold::redfish {

Result<std::string> System::path() {
  if (!path_.empty()) return path_;
  Collection systems = TRY(read_collection(client_.getter(), TRY(root_.systems())));
  for (const Json& member : systems.members) {
    path_ = link_of(member);
    if (!path_.empty()) return path_;
  }
  if (!systems.complete) return Error(Code::kUnavailable, "Systems: " + systems.why);
  return Error(Code::kUnsupported, "the BMC shows no ComputerSystem");
}

Result<Reply> System::read() {
  Reply reply = TRY(client_.get(TRY(path())));
  if (!reply.body.is_object()) return Error(Code::kMalformed, path_ + " is not an object");
  return reply;
}

}  // namespace leasehold::redfish
