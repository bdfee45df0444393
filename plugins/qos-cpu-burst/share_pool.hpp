// SPDX-License-Identifier: Apache-2.0
// Load of the CPUs that pods share: all CPUs of the node but those reserved for LSE and LSR pods, and all use of them
// but that of best-effort pods, which yields. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace koord::cpu_burst {

enum class PoolState : std::uint8_t { unknown, idle, cooling, overload };

const char* name_of(PoolState state);

// In cores.
struct Pool {
  double total = 0, used = 0;
  double threshold_percent = 0;  // from here on it is overloaded; cooling from 90 % of it

  double ratio() const;  // 1 when there is no such CPU
  // How much more may be used before it cools; never less than 0.
  double room() const;
};

PoolState state_of(const Pool& pool);

// The part of changes within a window that the window's average does not show yet.
class UnaveragedChanges {
 public:
  explicit UnaveragedChanges(std::uint64_t window_ns) : window_ns_(window_ns) {}
  void set_window(std::uint64_t window_ns) { window_ns_ = window_ns; }

  // This many cores more were used from then on, or less.
  void changed(double cores, std::uint64_t at_ns) { changes_.push_back({at_ns, cores}); }
  double cores(std::uint64_t now_ns);

 private:
  struct Change {
    std::uint64_t at_ns;
    double cores;
  };
  std::uint64_t window_ns_;
  std::vector<Change> changes_;
};

}  // namespace koord::cpu_burst
