// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/counters/rotation.hpp"

#include <algorithm>

namespace koord::performance {

std::vector<std::uint64_t> due(std::vector<Candidate> candidates, std::uint64_t now_ns, std::uint64_t interval_ns) {
  const std::uint64_t wait_ns = interval_ns - interval_ns / 20;
  std::erase_if(candidates, [&](const Candidate& candidate) {
    return candidate.last_begin_ns && now_ns < *candidate.last_begin_ns + wait_ns;
  });
  // nullopt is less than every time, so new candidates come first.
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.last_begin_ns != b.last_begin_ns ? a.last_begin_ns < b.last_begin_ns : a.handle < b.handle;
  });
  std::vector<std::uint64_t> handles;
  handles.reserve(candidates.size());
  for (const Candidate& candidate : candidates) handles.push_back(candidate.handle);
  return handles;
}

void DescriptorBudget::had_enough() { now_ = std::min(most_, now_ + std::max<std::size_t>(1, most_ / 8)); }

}  // namespace koord::performance
