#include "agent/gateway/own_certificate.h"

#include "agent/gateway/frames.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/tls/renewal_time.h"
#include "core/tls/x509.h"

namespace leasehold {
namespace {

constexpr mode_t kPublicMode = 0644;

}  // namespace

OwnCertificate::OwnCertificate(Loop& loop, Clock& clock, Random& random, TlsServerConfig tls,
                               std::string file, Ports ports)
    : loop_(loop),
      clock_(clock),
      random_(random),
      tls_(std::move(tls)),
      file_(std::move(file)),
      ports_(std::move(ports)) {}

void OwnCertificate::watch() {
  loop_.after(limits::kRenewRetryMs, [this] { watch(); });
  Result<CertificateFacts> facts = certificate_facts(tls_.certificate_chain_pem);
  if (!facts.ok()) return;  // the server would not have started with it
  if (due_ms_ == 0) due_ms_ = renewal_due_ms(facts.value().validity, random_);
  if (clock_.now_ms() < due_ms_) return;
  Result<std::string> csr = make_csr(tls_.private_key_pem);
  if (csr.ok()) ports_.send(renew_frame(csr.value()));
}

void OwnCertificate::renewed(const std::string& chain_pem) {
  Status taken = take(chain_pem);
  if (taken.ok()) return log_line(LogEvent::kCertificateRenewed, {{"kind", "gateway"}});
  log_line(LogEvent::kCertificateNotRenewed,
           {{"kind", "gateway"}, {"message", taken.error().text()}});
}

Status OwnCertificate::take(const std::string& chain_pem) {
  TlsServerConfig next = tls_;
  next.certificate_chain_pem = chain_pem;
  TRY(ports_.serve_with(next));
  tls_ = std::move(next);
  due_ms_ = 0;
  return write_file_atomic(file_, chain_pem, kPublicMode);
}

}  // namespace leasehold
