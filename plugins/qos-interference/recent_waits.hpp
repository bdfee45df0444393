// SPDX-License-Identifier: Apache-2.0
// RecentWaits: the part of a victim's waits that a pod causes now. The figures of a verdict are averages over all its
// windows, by which a pod that has stopped would stay to blame for hours. Pure. [one thread]
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "plugins/qos-interference/verdict.hpp"

namespace koord::mitigation {

// A verdict's figures of a pod, summed up over its windows.
struct Sums {
  std::uint64_t verdict = 0;
  std::uint32_t windows = 0;
  double waited = 0, all = 0;  // for the pod, and of the victim for all
};
Sums sums_of(const Verdict& verdict, const Suspect& suspect);

// The pod's part of the waits between two times, 0 to 1. Nothing: no window was added, or the verdict is another.
std::optional<double> share_between(const Sums& before, const Sums& now);

class RecentWaits {
 public:
  // Takes the figures of a round. `span_ns`: how long ago the waits are at most.
  void follow(const std::vector<Verdict>& verdicts, std::uint64_t now_ns, std::uint64_t span_ns);

  // 0 to 1. That of the verdict if it has no windows; the one from before while no window is added.
  double share(const Verdict& verdict, const Suspect& suspect) const;

 private:
  struct Track {
    Sums older, newer;  // half of the span and more ago; less
    std::uint64_t newer_ns = 0;
    double share = 0;
  };

  std::map<std::pair<std::uint64_t, std::uint64_t>, Track> tracks_;  // by verdict and pod
};

}  // namespace koord::mitigation
