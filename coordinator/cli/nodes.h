// The noun `node`, as far as it reads and describes: list, show, cordon, labels, location. What
// asks a site to do something is node_work.h.
#pragma once

#include <string>
#include <vector>

#include "coordinator/cli/session.h"

namespace leasehold {

struct NodeListOptions {
  std::string site;
  std::string pool;
  std::string state;
};
Status node_list(Session& session, const NodeListOptions& options);
Status node_show(Session& session, const std::string& node);

Status node_cordon(Session& session, const std::string& node, bool on);
Status node_set_location(Session& session, const std::string& node, const std::string& location);
// Each change is "key=value", or "key-" to take the label away; INVALID_INPUT for anything else.
Status node_label(Session& session, const std::string& node,
                  const std::vector<std::string>& changes);
// Each change is a taint to add, or "taint-" to take it away.
Status node_taint(Session& session, const std::string& node,
                  const std::vector<std::string>& changes);

// "quarantined (FIRMWARE_DRIFT) ..." in one line of text: what the message says and what to do.
std::vector<Field> failure_fields(const std::string& code, const std::string& message);

}  // namespace leasehold
