// SPDX-License-Identifier: Apache-2.0
// A NodeSLO's spec and a pod's annotation, with any content: all identities must be valid for the kernel.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "plugins/hook-group-identity/group_identity.hpp"

using namespace koord::group_identity;

namespace {

void check(std::optional<std::int64_t> identity) {
  if (identity && (*identity < kLeastIdentity || *identity > kMostIdentity)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto identity = parse_identity(text)) check(*identity);
  const auto identities = parse_identities(text);
  if (!identities) return 0;
  for (const auto& identity : {identities->lsr, identities->ls, identities->be, identities->system}) check(identity);
  return 0;
}
