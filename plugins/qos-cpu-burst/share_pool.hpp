// SPDX-License-Identifier: Apache-2.0
// Load of the CPUs that pods share: all CPUs of the node except the CPUs reserved for LSE and LSR pods, and their usage
// without the usage of best-effort pods, which yield. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace koord::cpu_burst {

enum class PoolState : std::uint8_t { unknown, idle, cooling, overload };

const char* name_of(PoolState state);

// In cores.
struct Pool {
  double total = 0, used = 0;
  double threshold_percent = 0;  // the pool is overloaded from this usage on, and cooling from 90 % of it

  double ratio() const;  // 1 if no CPUs are shared
  // Returns how much more may be used before the pool is cooling; never less than 0.
  double room() const;
};

PoolState state_of(const Pool& pool);

// The part of the usage's changes that the average over a window does not show yet.
class UnaveragedChanges {
 public:
  explicit UnaveragedChanges(std::uint64_t window_ns) : window_ns_(window_ns) {}
  void set_window(std::uint64_t window_ns) { window_ns_ = window_ns; }

  // Records that the usage changed by `cores` at `at_ns`.
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
