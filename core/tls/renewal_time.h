// When a certificate is to be renewed: one rule for whoever holds one. Values only, any thread.
#pragma once

#include "core/base/clock.h"
#include "core/tls/x509.h"

namespace leasehold {

// At half of its life, and by chance up to a tenth of it later, so that what was issued together is
// not renewed together.
inline int64_t renewal_due_ms(const Validity& validity, Random& random) {
  int64_t life_ms = validity.not_after_ms - validity.not_before_ms;
  auto chance = static_cast<unsigned char>(random.bytes(1)[0]);
  return validity.not_before_ms + life_ms / 2 + life_ms / 10 * chance / 255;
}

}  // namespace leasehold
