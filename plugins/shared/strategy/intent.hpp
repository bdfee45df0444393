// SPDX-License-Identifier: Apache-2.0
// An intent of a strategy's plan() for one knob of one cgroup. It owns its texts, while koord_intent only borrows them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace koord::strategy {

using Inputs = std::vector<std::pair<std::string, std::string>>;  // values that the decision used, by name

struct Intent {
  std::uint32_t level = 0;  // KOORD_LEVEL_*
  std::string knob;         // "memory.high"
  std::string cgroup_dir;   // empty for a knob of the node
  std::string value;        // value in the format of cgroup v2
  std::string reason;       // a sentence for an operator
  Inputs inputs = {};
  std::int32_t priority = 0;
  std::uint32_t role = 0;  // KOORD_ROLE_*: the value is the whole value, a factor, or a bound

  bool operator==(const Intent&) const = default;
};

using Intents = std::vector<Intent>;

}  // namespace koord::strategy
