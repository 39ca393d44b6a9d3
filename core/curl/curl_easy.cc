#include <mutex>

#include "core/curl/http_client.h"
#include "core/curl/transfer.h"

namespace leasehold {

// An easy handle keeps its connections from one transfer to the next.
struct CurlEasyClient::Kept {
  std::mutex mutex;
  Transfer::Easy easy;
};

CurlEasyClient::CurlEasyClient() : kept_(std::make_unique<Kept>()) {}
CurlEasyClient::~CurlEasyClient() = default;

Result<HttpResponse> CurlEasyClient::send(const HttpRequest& request, const HttpOptions& options) {
  std::unique_lock lock(kept_->mutex, std::try_to_lock);
  Transfer transfer(request, options, lock ? std::move(kept_->easy) : nullptr);
  TRY(transfer.prepare());
  Result<HttpResponse> answer = transfer.finish(curl_easy_perform(transfer.easy()));
  if (lock) kept_->easy = transfer.release();
  return answer;
}

}  // namespace leasehold
