// What the ramdisk knows at its start: from the kernel's command line where its run document lies,
// from its own image whose site it belongs to. And the run document itself (docs/protocols.md
// section 1). Values only, read once by main(). The image's word on site and domain stands above
// the document's, which came over an open network.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/tls/x509.h"
#include "pxe/ramdisk/sysroot.h"

namespace leasehold {

struct BootFacts {
  std::string run_url;  // of the run document
  std::string site;
  Anchors anchors;  // the root and the domain
};
// CONFIG, naming the file.
Result<BootFacts> read_boot_facts(const Sysroot& root);
// The value of leasehold.run= in a kernel command line. CONFIG.
Result<std::string> run_url_of(const std::string& cmdline);

struct RunDocument {
  std::string site;
  std::string node;
  std::string run;
  std::string boot;
  std::string gateway_host;
  std::string gateway_address;
  int64_t gateway_port = 0;
  std::string token;  // secret bytes
};
// MALFORMED, INVALID_INPUT; FORBIDDEN if it is for another site or domain than the image.
Result<RunDocument> parse_run_document(const std::string& text, const BootFacts& facts);

}  // namespace leasehold
