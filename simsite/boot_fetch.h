// Firmware and iPXE on the provisioning network: HEAD and GET of the boot script, then the kernel
// and the initrd it names. Each boot runs on a thread of its own; the answer comes back on the
// loop's thread. Owned by the site; its destructor waits for the threads.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "core/base/result.h"
#include "core/http/message.h"
#include "core/loop/loop.h"
#include "simsite/boot_script.h"

namespace leasehold::simsite {

// The whole sequence, blocking; `stopping` ends it between two calls. Any error means that there is
// nothing to boot from the network.
Result<BootScript> fetch_boot(HttpClient& client, const std::string& script_url,
                              const std::atomic<bool>& stopping);

class BootFetcher {
 public:
  BootFetcher(Loop& loop, HttpClient& client);
  ~BootFetcher();
  BootFetcher(const BootFetcher&) = delete;
  BootFetcher& operator=(const BootFetcher&) = delete;

  void start(const std::string& script_url, std::function<void(Result<BootScript>)> done);

 private:
  void finish(uint64_t id);

  Loop& loop_;
  HttpClient& client_;
  std::atomic<bool> stopping_ = false;
  uint64_t next_ = 1;
  std::map<uint64_t, std::thread> threads_;
};

}  // namespace leasehold::simsite
