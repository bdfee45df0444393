// SPDX-License-Identifier: Apache-2.0
// A patch of JSON: a line with the target, then the patch, which is applied as JSON patch and as merge patch.
#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/aggregated/patch.hpp"
#include "core/json/reader.hpp"

using namespace koord;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  if (end == text.npos) return 0;
  const auto target = read_json(text.substr(0, end));
  const auto patch = read_json(text.substr(end + 1));
  if (!target || !patch) return 0;
  auto merged = *target;
  aggregated::apply_merge_patch(merged, *patch);
  // Applying a merge patch a second time must change nothing, with or without null.
  auto again = merged;
  aggregated::apply_merge_patch(again, *patch);
  if (!(again == merged)) std::abort();
  auto patched = *target;
  if (aggregated::apply_json_patch(patched, *patch)) (void)boost::json::serialize(patched);
  return 0;
}
