// SPDX-License-Identifier: Apache-2.0
// Decides which containers get counters in the next window, and how many. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace koord::performance {

struct Candidate {
  std::uint64_t handle = 0;
  std::optional<std::uint64_t> last_begin_ns = {};  // of its last window; nothing: it has had none
};

// Those whose last window began `interval_ns` ago or earlier, in the order of their turns: new ones, then the ones that
// have waited longest. A tick may come a twentieth of the interval early.
std::vector<std::uint64_t> due(std::vector<Candidate> candidates, std::uint64_t now_ns, std::uint64_t interval_ns);

// How many descriptors may be open at once. Learns from a shortage: then it is half of what was open, and grows by an
// eighth of the whole with each window that gets what it wants.
class DescriptorBudget {
 public:
  explicit DescriptorBudget(std::size_t most) : most_(most), now_(most) {}

  std::size_t now() const { return now_; }
  // At least one container, however many CPUs it takes.
  bool admits(std::size_t open, std::size_t more) const { return open == 0 || open + more <= now_; }
  void ran_short(std::size_t open) { now_ = open / 2; }
  void had_enough();

 private:
  std::size_t most_, now_;
};

}  // namespace koord::performance
