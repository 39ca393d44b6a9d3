#include "simsite/boot_fetch.h"

#include "simsite/limits.h"

namespace leasehold::simsite {
namespace {

Result<HttpResponse> fetch(HttpClient& client, const char* method, const std::string& url,
                           size_t max_bytes) {
  HttpRequest request;
  request.method = method;
  request.url = url;
  HttpOptions options;
  options.connect_timeout_ms = kBootConnectMs;
  options.timeout_ms = kBootRequestMs;
  options.max_body_bytes = max_bytes;
  HttpResponse response = TRY_WITH(client.send(request, options), url);
  if (response.status != 200) {
    return Error(Code::kNotFound, url + ": " + std::to_string(response.status));
  }
  return response;
}

}  // namespace

Result<BootScript> fetch_boot(HttpClient& client, const std::string& script_url,
                              const std::atomic<bool>& stopping) {
  // UEFI HTTP boot asks for the size first; the script must not be used up by that.
  TRY(fetch(client, "HEAD", script_url, kBootScriptBytes));
  HttpResponse text = TRY(fetch(client, "GET", script_url, kBootScriptBytes));
  BootScript script = TRY(parse_boot_script(text.body));
  for (const std::string& url : {script.kernel_url, script.initrd_url}) {
    if (stopping) return Error(Code::kStopped, "the simulated site stops");
    if (!url.empty()) TRY(fetch(client, "GET", url, kBootFileBytes));
  }
  return script;
}

BootFetcher::BootFetcher(Loop& loop, HttpClient& client) : loop_(loop), client_(client) {}

BootFetcher::~BootFetcher() {
  stopping_ = true;
  for (auto& [id, thread] : threads_) thread.join();
}

void BootFetcher::start(const std::string& script_url,
                        std::function<void(Result<BootScript>)> done) {
  uint64_t id = next_++;
  threads_[id] = std::thread([this, id, script_url, done = std::move(done)] {
    Result<BootScript> script = fetch_boot(client_, script_url, stopping_);
    loop_.post([this, id, done, script = std::move(script)] {
      finish(id);
      done(script);
    });
  });
}

void BootFetcher::finish(uint64_t id) {
  threads_.at(id).join();
  threads_.erase(id);
}

}  // namespace leasehold::simsite
