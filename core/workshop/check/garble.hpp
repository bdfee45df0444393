// SPDX-License-Identifier: Apache-2.0
// Things made at random, from one seed always the same: a node's files gone wrong, pods as no cluster has them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/state/pod.hpp"

namespace koord::check {

class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : engine_(seed) {}

  // Returns a number of 0 to n - 1; 0 for n = 0. The standard's distributions differ between libraries, this does not.
  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : engine_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class Range>
  const auto& any_of(const Range& range) {
    return *(std::begin(range) + static_cast<std::ptrdiff_t>(below(std::size(range))));
  }

 private:
  std::mt19937_64 engine_;
};

// The content of a file with something wrong in it: cut, without a line, with another number, of other bytes, or
// nothing.
std::string garble(RandomSource& random, std::string_view content);

// Names are short, long, empty or not of this alphabet, quantities anything; `cgroup_dirs` are some that exist.
std::vector<state::Pod> garbled_pods(RandomSource& random, const std::vector<std::string>& cgroup_dirs);

}  // namespace koord::check
