// SPDX-License-Identifier: Apache-2.0
// Tokens of any bytes, and tokens with any claims: the subject is short and does not depend on the signature.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/kubeauth/claimed_subject.hpp"
#include "test/fuzz/check.hpp"
#include "test/support/service_account_token.hpp"

using namespace koord;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(kubeauth::claimed_subject(text).size() <= 512);
  const std::string claims = "e30." + test::base64_url(text) + '.';
  const std::string subject = kubeauth::claimed_subject(claims + "one");
  check(subject.size() <= 512 && subject == kubeauth::claimed_subject(claims + "another"));
  return 0;
}
