// SPDX-License-Identifier: Apache-2.0
// Lines of schemata and a pod's annotation, with any content: a mask is never empty, and stays within the cache's mask.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "plugins/qos-resctrl/hardware.hpp"
#include "plugins/shared/slo/pod_slo.hpp"
#include "test/fuzz/check.hpp"

using namespace koord::rdt;

namespace {

void check_mask(const Cache& cache, std::int64_t begin, std::int64_t end) {
  const std::uint64_t mask = mask_of(cache, begin, end);
  check(mask != 0 && (mask & ~cache.mask) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(domains_in(text, "L3").size() <= size);
  Cache cache{.mask = largest_in(text, "L3", 16), .least_bits = 2, .ids = {0}};
  if (cache.mask == 0) cache.mask = 0xf0f;
  koord::slo::Problems problems;
  const auto own = koord::slo::resctrl_of(text, problems);
  if (!own) return 0;
  const auto& range = own->l3_range;
  for (const bool gaps : {false, true}) {
    cache.takes_gaps = gaps;
    if (range) check_mask(cache, range->first, range->second);
    for (const auto& [id, of_cache] : own->l3_of_cache) check_mask(cache, of_cache.first, of_cache.second);
  }
  check(!own->mb_percent || (*own->mb_percent >= 1 && *own->mb_percent <= 100));
  return 0;
}
