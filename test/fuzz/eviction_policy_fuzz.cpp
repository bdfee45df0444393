// SPDX-License-Identifier: Apache-2.0
// Any text of a pod about its eviction: an unreadable text never allows a feature to evict the pod.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "plugins/shared/eviction/opt_outs.hpp"
#include "test/fuzz/check.hpp"

using namespace koord::eviction;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Policy policy(text);
  check(policy.is_readable() || !policy.allows("BECPUEvict"));
  // An allowed feature must be a string of the text. The string may have escapes, so only the quotes are checked.
  check(!policy.allows("BECPUEvict") || text.find('"') != std::string_view::npos);
  const std::int32_t order = order_of(text);
  check(order == 0 || text.find_first_of("123456789") != std::string_view::npos);
  const auto sub_priority = sub_priority_of(text);
  check(!sub_priority || text.find_first_of("0123456789") != std::string_view::npos);
  return 0;
}
