// SPDX-License-Identifier: Apache-2.0
// Waits that one plugin posts for a different plugin. Writing an accepted text again must give the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plugins/shared/latency/posted_waits.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = koord::latency::read_posted_waits(text);
  if (read && koord::latency::write_posted_waits(*read) != text) std::abort();
  return 0;
}
