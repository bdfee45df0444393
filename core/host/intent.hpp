// SPDX-License-Identifier: Apache-2.0
// Intent: what a strategy wishes for one knob of one cgroup; the host's own copy of koord_intent.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"

namespace koord::host {

// In the order of writing when limits narrow; the values are those of the plugin ABI.
enum class IntentLevel { qos = 0, pod = 1, container = 2 };

struct Intent {
  IntentLevel level = IntentLevel::qos;
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

}  // namespace koord::host
