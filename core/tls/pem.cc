// The texts of certificates and requests: PEM, DER and digests (declared in x509.h).
#include "core/base/limits.h"
#include "core/tls/certificate.h"
#include "core/tls/crypto.h"
#include "core/tls/openssl.h"
#include "core/tls/x509.h"

namespace leasehold {
namespace {

struct Block {
  std::string type;
  std::string der;
};

// The next PEM block of any type; MALFORMED if there is none.
Result<Block> next_block(BIO* bio) {
  char* type = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  if (PEM_read_bio(bio, &type, &header, &data, &size) != 1) {
    return Error(Code::kMalformed, "not PEM");
  }
  Block block{type, std::string(reinterpret_cast<char*>(data), static_cast<size_t>(size))};
  OPENSSL_free(type);
  OPENSSL_free(header);
  OPENSSL_free(data);
  return block;
}

bool only_white_space(BIO* bio) {
  return bio_text(bio).find_first_not_of(" \t\r\n") == std::string::npos;
}

}  // namespace

Result<std::vector<std::string>> pem_to_der(const std::string& chain_pem) {
  ErrorScope errors;
  BioPtr bio = bio_over(chain_pem);
  std::vector<std::string> chain;
  while (chain.empty() || !only_white_space(bio.get())) {
    if (chain.size() == limits::kChainCertificates) {
      return Error(Code::kTooLarge, "a chain has at most 4 certificates");
    }
    Block block = TRY(next_block(bio.get()));
    if (block.type != PEM_STRING_X509) {
      return Error(Code::kMalformed, "a chain holds certificates only");
    }
    if (block.der.size() > limits::kCertificateBytes) {
      return Error(Code::kTooLarge, "a certificate has at most 4096 bytes");
    }
    TRY(parse_certificate(block.der));
    chain.push_back(std::move(block.der));
  }
  return chain;
}

std::string der_to_pem(std::string_view certificate) {
  BioPtr bio = bio_in_memory();
  int written = PEM_write_bio(bio.get(), PEM_STRING_X509, "",
                              reinterpret_cast<const unsigned char*>(certificate.data()),
                              static_cast<long>(certificate.size()));
  LEASEHOLD_CHECK(written > 0 || certificate.empty(), "out of memory");
  return bio_text(bio.get());
}

Result<std::string> certificate_sha256(const std::string& certificate) {
  std::vector<std::string> chain = TRY(pem_to_der(certificate));
  return sha256_hex(chain.front());
}

Result<CertificateFacts> certificate_facts(const std::string& chain_pem) {
  std::vector<std::string> chain = TRY(pem_to_der(chain_pem));
  X509Ptr first = TRY(parse_certificate(chain.front()));
  return CertificateFacts{serial_hex(first.get()), sha256_hex(chain.front()),
                          validity_of(first.get())};
}

Result<std::string> make_csr(const std::string& private_key_pem) {
  PkeyPtr key = TRY(parse_p256_key(private_key_pem));
  CsrPtr csr(X509_REQ_new());
  bool made = csr && X509_REQ_set_version(csr.get(), X509_REQ_VERSION_1) == 1 &&
              X509_REQ_set_pubkey(csr.get(), key.get()) == 1 &&
              X509_REQ_sign(csr.get(), key.get(), EVP_sha256()) > 0;
  LEASEHOLD_CHECK(made, "a CSR cannot be made");
  BioPtr bio = bio_in_memory();
  LEASEHOLD_CHECK(PEM_write_bio_X509_REQ(bio.get(), csr.get()) == 1, "out of memory");
  return bio_text(bio.get());
}

Result<std::string> csr_der(const std::string& csr_pem) {
  ErrorScope errors;
  if (csr_pem.size() > limits::kCsrBytes) {
    return Error(Code::kTooLarge, "a CSR has at most 4096 bytes");
  }
  BioPtr bio = bio_over(csr_pem);
  Block block = TRY_WITH(next_block(bio.get()), "CSR");
  if (block.type != PEM_STRING_X509_REQ || !only_white_space(bio.get())) {
    return Error(Code::kMalformed, "not exactly one CSR in PEM");
  }
  return std::move(block.der);
}

}  // namespace leasehold
