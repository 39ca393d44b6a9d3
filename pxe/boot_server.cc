#include "pxe/boot_server.h"

#include <utility>

#include "core/base/log.h"
#include "pxe/boot_script.h"

namespace leasehold {
namespace {

HttpResponse text_response(int status, std::string text, const char* type = "text/plain") {
  return {status, {{"Content-Type", type}}, std::move(text)};
}

// The part of `path` behind `prefix` if it starts so, whatever the case of the prefix.
bool behind(const std::string& path, const std::string& prefix, std::string& rest) {
  if (path.size() <= prefix.size()) return false;
  for (size_t i = 0; i < prefix.size(); ++i) {
    const char c = path[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != prefix[i]) return false;
  }
  rest = path.substr(prefix.size());
  return rest.find('/') == std::string::npos;
}

}  // namespace

BootServer::BootServer(BootTable& table, const ImageFolder& images, std::string public_url,
                       std::function<void()> on_claim)
    : table_(table),
      images_(images),
      public_url_(std::move(public_url)),
      on_claim_(std::move(on_claim)) {}

HttpResponse BootServer::answer(const ServerRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    return text_response(405, "only GET and HEAD\n");
  }
  const std::string path = normalise_boot_path(request.path);
  std::string rest;
  if (behind(path, "/boot/", rest)) return script(rest, request.peer_address);
  if (behind(path, "/image/", rest)) return image(rest, request);
  if (behind(path, "/run/", rest)) {
    // A size probe of firmware must not use up the document.
    if (request.method == "HEAD") return text_response(405, "only GET\n");
    return run_document(rest, request.peer_address);
  }
  return text_response(404, "not found\n");
}

HttpResponse BootServer::script(const std::string& mac, const std::string& peer) {
  Result<std::string> normalised = normalise_mac(mac);
  const Arming* arming = normalised.ok() ? table_.find(normalised.value()) : nullptr;
  if (arming == nullptr) return text_response(404, "this MAC may not boot now\n");
  log_line(LogEvent::kBootServed, {{"mac", arming->mac}, {"boot", arming->boot}, {"peer", peer}});
  return text_response(200, boot_script(*arming, public_url_));
}

HttpResponse BootServer::run_document(const std::string& boot, const std::string& peer) {
  BootTable::Taken taken = table_.take_document(boot, peer);
  if (taken.take == BootTable::Take::kUnknown) return text_response(404, "not found\n");
  const bool given = taken.take == BootTable::Take::kGiven;
  // Past the first few, a machine that asks on and on shall not fill the log either.
  if (taken.count <= limits::kBootClaimsPerBoot) {
    log_line(given ? LogEvent::kBootClaimed : LogEvent::kBootClaimedTwice,
             {{"boot", boot}, {"mac", taken.mac}, {"peer", peer}, {"count", taken.count}});
    on_claim_();
  }
  if (!given) return text_response(410, "this run document was handed out before\n");
  return text_response(200, std::move(taken.document), "application/json");
}

HttpResponse BootServer::image(const std::string& name, const ServerRequest& request) {
  Result<std::shared_ptr<ImageFile>> file = images_.open(name);
  if (!file.ok()) return text_response(404, file.error().message + "\n");
  if (request.method == "GET") {
    log_line(LogEvent::kBootServed, {{"image", name}, {"peer", request.peer_address}});
  }
  HttpResponse response{200, {{"Content-Type", "application/octet-stream"}}, ""};
  response.source = std::move(file).value();
  return response;
}

}  // namespace leasehold
