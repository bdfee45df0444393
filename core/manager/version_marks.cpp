// SPDX-License-Identifier: Apache-2.0
#include "core/manager/version_marks.hpp"

#include <algorithm>

namespace koord::manager {
namespace {

// The year 2100. A later clock is wrong, and would leave few versions, so it is ignored.
constexpr std::int64_t kLastWallNs = 4'102'444'800'000'000'000;

}  // namespace

aggregated::Version VersionMarks::propose(Version in_lease, std::int64_t wall_ns, std::optional<Version> newest) {
  if (in_lease <= kLast) seen_ = std::max(seen_, in_lease);
  if (!newest) proposed_first_ = aggregated::first_version(wall_ns > kLastWallNs ? 0 : wall_ns, seen_);
  proposed_ = std::min(kLast, newest ? std::max(seen_, *newest + kBlock) : proposed_first_ + kBlock);
  return proposed_;
}

void VersionMarks::stored() {
  first_ = proposed_first_;
  most_ = proposed_;
  seen_ = std::max(seen_, proposed_);
}

}  // namespace koord::manager
