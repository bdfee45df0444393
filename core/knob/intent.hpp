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
#include "core/decision/intent_terms.hpp"

namespace koord::knob {

struct ParsedIntent;  // composition.hpp

struct Intent {
  decision::Level level = decision::Level::qos;
  std::string knob;
  std::string cgroup_dir;
  std::string value;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> inputs;
  std::int32_t priority = 0;
  std::uint32_t flags = 0;
  Duration ttl{0};
  decision::Role role = decision::Role::set;

  // The knob and the typed value, parsed once; null: not parsed yet. Follows from the rest.
  std::shared_ptr<const ParsedIntent> parsed = {};

  bool operator==(const Intent& other) const;
};

using Plan = std::vector<Intent>;

}  // namespace koord::knob
