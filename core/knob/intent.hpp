// SPDX-License-Identifier: Apache-2.0
// Intent: a value, or a part of a value, that a strategy proposes for one knob of one cgroup; the host's own copy of
// koord_intent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"

namespace koord::knob {

// Cgroups from the outside in: a pod's is in that of its QoS class. The node's knobs are in none. The values are those of the
// plugin ABI.
enum class Level { qos = 0, pod = 1, container = 2, node = 3 };

// The part of the value. The values are those of the plugin ABI.
enum class Role : std::uint8_t { set = 0, base = 1, scale = 2, cap = 3, floor = 4 };

struct ParsedIntent;  // composition.hpp

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
  Role role = Role::set;

  // The knob and the typed value, parsed once; null: not parsed yet. Follows from the rest.
  std::shared_ptr<const ParsedIntent> parsed = {};

  bool operator==(const Intent& other) const;
};

using Plan = std::vector<Intent>;

}  // namespace koord::knob
