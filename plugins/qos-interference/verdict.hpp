// SPDX-License-Identifier: Apache-2.0
// A verdict as the ladder takes it. Pure. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace koord::mitigation {

enum class Resource : std::uint8_t { cpu, blkio, memory };
std::string_view name_of(Resource resource);  // "cpu"

// A pod that a verdict blames.
struct Suspect {
  std::uint64_t pod = 0;
  double waited = 0;  // the victim's waits for it, in the unit of the verdict
  double share = 0;   // of all its waits, 0 to 1
};

// A standing verdict of a trusted plugin. Its figures are averages over `windows`.
struct Verdict {
  std::uint64_t id = 0;
  std::string source;        // the plugin
  std::uint64_t victim = 0;  // a pod
  std::string victim_name;   // "shop/cart-7d9/app"
  Resource resource = Resource::cpu;
  std::string method;         // "exact"
  std::string statistic;      // "held_up 0.042 ratio, limit 0.01"
  std::string unit;           // of waits
  std::uint32_t windows = 0;  // with a finding; 0: its rule has no windows
  std::uint64_t to_ns = 0;    // end of the last window with a finding
  std::vector<Suspect> suspects;
};

}  // namespace koord::mitigation
