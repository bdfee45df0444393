// SPDX-License-Identifier: Apache-2.0
// VersionMarks: keeps the resource versions of the aggregated API from going back when another replica leads, however
// wrong the clocks are. The lease carries a mark: no object has a greater version so far. A leader raises it by a block
// with each renewal, and gives out only versions up to the mark that the API server has stored. A replica that takes
// the lease begins above the mark that it finds there, and writes its own first mark with the same request. Pure. [one
// thread]
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/aggregated/version.hpp"

namespace koord::manager {

class VersionMarks {
 public:
  using Version = aggregated::Version;

  // Far more than an epoch gives out from one renewal to the next, and so little that the marks of leaders that follow
  // each other quickly stay near the clock.
  static constexpr Version kBlock = 1'000'000;

  // Returns the mark to write into a lease with the mark `in_lease`; 0: it has none. `newest`: the newest version of
  // the epoch that runs; nullopt: none runs, and the mark is that of a new one.
  Version propose(Version in_lease, std::int64_t wall_ns, std::optional<Version> newest);
  // The lease has the mark that was proposed last.
  void stored();

  // The epoch has ended, with this newest version. A mark that was proposed while it ran may still be stored.
  void ended(Version newest) { given_ = std::max(given_, newest); }

  // The begin of the next epoch, above all versions of the one before, and the greatest version that it may give out.
  Version first() const { return given_ == 0 ? first_ : std::max(first_, given_ + 1); }
  Version most() const { return most_; }

 private:
  Version seen_ = 0;   // in the lease
  Version given_ = 0;  // by our own epochs that have ended
  Version proposed_first_ = 0, proposed_ = 0;
  Version first_ = 0, most_ = 0;
};

}  // namespace koord::manager
