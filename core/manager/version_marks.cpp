// SPDX-License-Identifier: Apache-2.0
#include "core/manager/version_marks.hpp"

#include <algorithm>

namespace koord::manager {
namespace {

// The year 2128. A later mark is a mistake of a different program, and would leave too few versions.
constexpr aggregated::Version kLastMark = aggregated::kMostVersion / 2;

}  // namespace

aggregated::Version VersionMarks::propose(Version in_lease, std::int64_t wall_ns, std::optional<Version> newest) {
  if (in_lease <= kLastMark) seen_ = std::max(seen_, in_lease);
  if (!newest) proposed_first_ = aggregated::first_version(wall_ns, seen_);
  proposed_ = newest ? std::max(seen_, *newest + kBlock) : proposed_first_ + kBlock;
  return proposed_;
}

void VersionMarks::stored() {
  first_ = proposed_first_;
  most_ = proposed_;
  seen_ = std::max(seen_, proposed_);
}

}  // namespace koord::manager
