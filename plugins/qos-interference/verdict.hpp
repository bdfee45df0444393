// SPDX-License-Identifier: Apache-2.0
// A verdict as input of the ladder. Pure. [any thread]
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
  double waited = 0;  // waits of the victim for this pod, in the unit of the verdict
  double share = 0;   // share of all waits of the victim, 0 to 1
};

// A standing verdict of a trusted plugin. Its values are averages over `windows`.
struct Verdict {
  std::uint64_t id = 0;
  std::string source;        // id of the plugin
  std::uint64_t victim = 0;  // handle of a pod
  std::string victim_name;   // "shop/cart-7d9/app"
  Resource resource = Resource::cpu;
  std::string method;         // "exact"
  std::string statistic;      // "held_up 0.042 ratio, limit 0.01"
  std::string unit;           // unit of the waits
  std::uint32_t windows = 0;  // number of windows with a finding; 0: its rule has no windows
  std::uint64_t to_ns = 0;    // end of the last window with a finding
  std::vector<Suspect> suspects;
};

}  // namespace koord::mitigation
