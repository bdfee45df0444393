// SPDX-License-Identifier: Apache-2.0
// RecentWaits: the share of a victim's waits that a pod causes now. The values of a verdict are averages over all its
// windows, so a pod that has stopped would stay blamed for hours. Pure. [one thread]
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "plugins/qos-interference/verdict.hpp"

namespace koord::mitigation {

// A verdict's values for a pod, as sums over its windows.
struct Sums {
  std::uint64_t verdict = 0;
  std::uint32_t windows = 0;
  double waited = 0, all = 0;  // waits of the victim for the pod, and all waits of the victim
};
Sums sums_of(const Verdict& verdict, const Suspect& suspect);

// Returns the pod's share of the waits between two times, from 0 to 1. Returns nullopt if no window was added or if the
// sums are from different verdicts.
std::optional<double> share_between(const Sums& before, const Sums& now);

class RecentWaits {
 public:
  // Adds the values of a round. `span_ns`: maximum age of the waits.
  void follow(const std::vector<Verdict>& verdicts, std::uint64_t now_ns, std::uint64_t span_ns);

  // Returns a share from 0 to 1. If the verdict has no windows, it is the verdict's share. While no window is added, it
  // is the previous share.
  double share(const Verdict& verdict, const Suspect& suspect) const;

 private:
  struct Track {
    Sums older, newer;  // sums of at least half the span ago; later sums
    std::uint64_t newer_ns = 0;
    double share = 0;
  };

  std::map<std::pair<std::uint64_t, std::uint64_t>, Track> tracks_;  // key: verdict and pod
};

}  // namespace koord::mitigation
