// SPDX-License-Identifier: Apache-2.0
// Files and directory names of resctrl's monitoring.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plugins/advisor-resctrl/resctrl.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace koord::resctrl;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto bytes = parse_bytes(text);
  if (!bytes && bytes.error().message().empty()) std::abort();
  const Features features = parse_features(text);
  if (features.all() && !features.any()) std::abort();
  if (cache_of(text) && !text.starts_with("mon_L3_")) std::abort();
  return 0;
}
