// SPDX-License-Identifier: Apache-2.0
// Intent: a value, or a part of a value, that a strategy or a hook proposes for one knob of one cgroup; the host's own
// copy of koord_intent, with its knob and value parsed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/decision/intent_terms.hpp"
#include "core/decision/proposer.hpp"
#include "core/knob/knob.hpp"

namespace koord::knob {

struct Intent {
  decision::Level level = decision::Level::qos;
  decision::Role role = decision::Role::set;
  std::int32_t priority = 0;
  std::uint32_t flags = 0;
  const Knob* knob = nullptr;  // never null in an intent of make_intent()
  std::string cgroup_dir = {};
  std::string value = {};  // as it was proposed
  Value parsed = {};       // the same; of a scale only the item
  double factor = 1;       // of a scale
  std::string reason = {};
  std::vector<std::pair<std::string, std::string>> inputs = {};
  Duration ttl{0};
  // All intents of a plan share it; null: the plan is not taken yet. A hook's intents, which are composed without a
  // plan, get theirs where they are made; compose() needs it.
  std::shared_ptr<const decision::Proposer> proposer = {};

  // The same word for word; the proposer does not count.
  bool operator==(const Intent& other) const;
};

// The only way to make an intent. An error: the value or the role is none for the knob.
Result<Intent> make_intent(const Knob& knob, decision::Role role, std::string value);

// Do both propose the same, for whatever reason and time?
bool is_same_proposal(const Intent& a, const Intent& b);

using Plan = std::vector<Intent>;

}  // namespace koord::knob
