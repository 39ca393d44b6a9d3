#include "core/curl/http_client.h"
#include "core/curl/transfer.h"

namespace leasehold {

Result<HttpResponse> CurlEasyClient::send(const HttpRequest& request, const HttpOptions& options) {
  Transfer transfer(request, options);
  TRY(transfer.prepare());
  return transfer.finish(curl_easy_perform(transfer.easy()));
}

}  // namespace leasehold
