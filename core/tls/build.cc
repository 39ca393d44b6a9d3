#include "core/tls/build.h"

namespace leasehold {
namespace {

constexpr int kSerialBits = 128;

void set_serial(X509* certificate) {
  BignumPtr serial(BN_new());
  bool set = serial && BN_rand(serial.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1;
  if (set && BN_is_zero(serial.get())) set = BN_one(serial.get()) == 1;
  set = set && BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate)) != nullptr;
  LEASEHOLD_CHECK(set, "no serial number");
}

X509Ptr without_key(const Validity& validity) {
  X509Ptr certificate(X509_new());
  LEASEHOLD_CHECK(certificate != nullptr, "out of memory");
  X509* raw = certificate.get();
  set_serial(raw);
  bool made = X509_set_version(raw, X509_VERSION_3) == 1 &&
              ASN1_TIME_set(X509_getm_notBefore(raw), validity.not_before_ms / 1000) != nullptr &&
              ASN1_TIME_set(X509_getm_notAfter(raw), validity.not_after_ms / 1000) != nullptr;
  LEASEHOLD_CHECK(made, "a certificate cannot be made");
  return certificate;
}

}  // namespace

X509Ptr new_certificate(EVP_PKEY* public_key, const Validity& validity) {
  X509Ptr certificate = without_key(validity);
  LEASEHOLD_CHECK(X509_set_pubkey(certificate.get(), public_key) == 1,
                  "a certificate cannot be made");
  return certificate;
}

X509Ptr new_certificate(std::string_view p256_point, const Validity& validity) {
  X509Ptr certificate = without_key(validity);
  auto* point = static_cast<unsigned char*>(OPENSSL_memdup(p256_point.data(), p256_point.size()));
  // Both are static objects; the point belongs to the certificate from here on.
  bool set =
      point != nullptr && X509_PUBKEY_set0_param(X509_get_X509_PUBKEY(certificate.get()),
                                                 OBJ_nid2obj(NID_X9_62_id_ecPublicKey),
                                                 V_ASN1_OBJECT, OBJ_nid2obj(NID_X9_62_prime256v1),
                                                 point, static_cast<int>(p256_point.size())) == 1;
  LEASEHOLD_CHECK(set, "a certificate cannot be made");
  return certificate;
}

void extend(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  bool added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  LEASEHOLD_CHECK(added, "an extension cannot be made");
}

void name_ca(X509* certificate, const std::string& host, const char* common_name) {
  X509_NAME* name = X509_get_subject_name(certificate);
  std::string rest = host;
  auto add = [name](const char* field, const std::string& text) {
    int added =
        X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                   reinterpret_cast<const unsigned char*>(text.c_str()), -1, -1, 0);
    LEASEHOLD_CHECK(added == 1, "a name cannot be made");
  };
  while (!rest.empty()) {
    size_t dot = rest.rfind('.');
    add("DC", dot == std::string::npos ? rest : rest.substr(dot + 1));
    rest.resize(dot == std::string::npos ? 0 : dot);
  }
  add("CN", common_name);
}

void sign_certificate(X509* certificate, X509* issuer, EVP_PKEY* key) {
  bool signed_ = X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 &&
                 X509_sign(certificate, key, EVP_sha256()) > 0;
  LEASEHOLD_CHECK(signed_, "a certificate cannot be signed");
}

GENERAL_NAME* general_name(int type, std::string_view bytes) {
  GENERAL_NAME* name = GENERAL_NAME_new();
  ASN1_STRING* text = type == GEN_IPADD ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
  bool made = name != nullptr && text != nullptr &&
              ASN1_STRING_set(text, bytes.data(), static_cast<int>(bytes.size())) == 1;
  LEASEHOLD_CHECK(made, "out of memory");
  GENERAL_NAME_set0_value(name, type, text);
  return name;
}

void add_name(GENERAL_NAMES* names, int type, std::string_view bytes) {
  LEASEHOLD_CHECK(sk_GENERAL_NAME_push(names, general_name(type, bytes)) > 0, "out of memory");
}

}  // namespace leasehold
