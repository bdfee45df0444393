// SPDX-License-Identifier: Apache-2.0
// VersionMarks: prevents resource versions of the aggregated API from decreasing when a different replica leads, even
// if the clocks are wrong. The lease contains a mark: an upper bound of all versions so far. With each renewal a leader
// raises the mark by a block. It assigns only versions up to the mark that the API server has stored. A replica that
// takes the lease begins above the mark in it, and writes its own first mark with the same request. Pure. [one thread]
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/aggregated/version.hpp"

namespace koord::manager {

class VersionMarks {
 public:
  using Version = aggregated::Version;

  // Much more than an epoch assigns between two renewals. It is still small enough to keep the marks near the clock if
  // leaders change often.
  static constexpr Version kBlock = 1'000'000;

  // The year 2128. No replica writes a greater mark, so a greater one is a mistake of another program, and is ignored.
  static constexpr Version kLast = aggregated::kMostVersion / 2;

  // Returns the mark to write into a lease with the mark `in_lease` (0: it has none). `newest`: the newest version of
  // the running epoch; nullopt: no epoch runs, and the mark is for a new epoch.
  Version propose(Version in_lease, std::int64_t wall_ns, std::optional<Version> newest);
  // Called when the lease has the mark that was proposed last.
  void stored();

  // Called when the epoch has ended with this newest version. A mark that was proposed during the epoch may still be
  // stored.
  void ended(Version newest) { given_ = std::max(given_, newest); }

  // Return the first version of the next epoch, which is above all versions of the previous one, and the greatest
  // version that it may assign. Just before kLast no versions may be left: `first` is above `most` then.
  Version first() const { return given_ == 0 ? first_ : std::max(first_, given_ + 1); }
  Version most() const { return most_; }
  // Returns whether less than a block is left.
  bool is_exhausted() const { return most_ == kLast; }

 private:
  Version seen_ = 0;   // mark seen in the lease
  Version given_ = 0;  // greatest version of our ended epochs
  Version proposed_first_ = 0, proposed_ = 0;
  Version first_ = 0, most_ = 0;
};

}  // namespace koord::manager
