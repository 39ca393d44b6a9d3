// What firmware and the ramdisk may fetch on the provisioning network: boot scripts, run documents
// and images (docs/protocols.md section 1). Everyone on that network can ask; nothing here trusts
// who asks, and only the run document is secret. Owned by main(), called on the loop's thread.
#pragma once

#include <functional>
#include <string>

#include "core/http/message.h"
#include "core/loop/http_server.h"
#include "pxe/boot_table.h"
#include "pxe/image_folder.h"

namespace leasehold {

class BootServer {
 public:
  // `on_claim` is called after each claim, for those who wait for claims.
  BootServer(BootTable& table, const ImageFolder& images, std::string public_url,
             std::function<void()> on_claim);

  HttpResponse answer(const ServerRequest& request);

 private:
  HttpResponse script(const std::string& mac, const std::string& peer);
  HttpResponse run_document(const std::string& boot, const std::string& peer);
  HttpResponse image(const std::string& name, const ServerRequest& request);

  BootTable& table_;
  const ImageFolder& images_;
  std::string public_url_;
  std::function<void()> on_claim_;
};

}  // namespace leasehold
