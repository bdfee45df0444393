// SPDX-License-Identifier: Apache-2.0
// Intent: what a strategy wishes for one knob of one cgroup; the host's own copy of koord_intent.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"

namespace koord::knob {

// Cgroups from the outside in: a pod's is in that of its QoS class. The node's knobs are in none. The values are those of the
// plugin ABI.
enum class Level { qos = 0, pod = 1, container = 2, node = 3 };

struct Intent {
  Level level = Level::qos;
  std::string knob;
  std::string cgroup_dir;
  std::string value;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> inputs;
  std::int32_t priority = 0;
  std::uint32_t flags = 0;
  Duration ttl{0};

  bool operator==(const Intent&) const = default;
};

using Plan = std::vector<Intent>;

}  // namespace koord::knob
