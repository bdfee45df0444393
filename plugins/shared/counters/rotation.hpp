// SPDX-License-Identifier: Apache-2.0
// Decides which containers get counters in the next window, and how many containers. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace koord::performance {

struct Candidate {
  std::uint64_t handle = 0;
  std::optional<std::uint64_t> last_begin_ns = {};  // begin of its last window; nullopt: never measured
};

// Returns the containers that are due, because their last window began at least `interval_ns` ago. New containers come
// first, then the containers that have waited longest. A tick may come a twentieth of the interval early.
std::vector<std::uint64_t> due(std::vector<Candidate> candidates, std::uint64_t now_ns, std::uint64_t interval_ns);

// The number of descriptors that may be open at the same time. After a shortage it is half of the number that was open.
// After each window without a shortage it grows by an eighth of the maximum.
class DescriptorBudget {
 public:
  explicit DescriptorBudget(std::size_t most) : most_(most), now_(most) {}

  std::size_t now() const { return now_; }
  // Returns whether `more` descriptors may be opened. The first container is always admitted, even if it needs more.
  bool admits(std::size_t open, std::size_t more) const { return open == 0 || open + more <= now_; }
  void ran_short(std::size_t open) { now_ = open / 2; }
  void had_enough();

 private:
  std::size_t most_, now_;
};

}  // namespace koord::performance
