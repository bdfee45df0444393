// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/strategy/proposal.hpp"

namespace koord::strategy {
namespace {

koord_intent intent_of(const Intent& intent, const koord_label* inputs, std::chrono::nanoseconds ttl) {
  koord_intent raw{};
  raw.struct_size = sizeof raw;
  raw.level = intent.level;
  raw.knob = plugin::str(intent.knob);
  raw.cgroup_dir = plugin::str(intent.cgroup_dir);
  raw.value = plugin::str(intent.value);
  raw.reason = plugin::str(intent.reason);
  raw.inputs = inputs;
  raw.n_inputs = static_cast<std::uint32_t>(intent.inputs.size());
  raw.input_stride = sizeof(koord_label);
  raw.priority = intent.priority;
  raw.role = intent.role;
  raw.ttl_ns = static_cast<std::uint64_t>(ttl.count());
  return raw;
}

}  // namespace

void propose(const koord_host* host, const koord_svc_knobs* knobs, const Intents& proposed,
             std::chrono::nanoseconds ttl) {
  std::size_t n_inputs = 0;
  for (const Intent& intent : proposed) n_inputs += intent.inputs.size();
  std::vector<koord_label> inputs;  // inputs of all intents
  inputs.reserve(n_inputs);
  std::vector<koord_intent> intents;
  intents.reserve(proposed.size());
  for (const Intent& intent : proposed) {
    intents.push_back(intent_of(intent, inputs.data() + inputs.size(), ttl));
    for (const auto& [name, value] : intent.inputs) inputs.push_back({plugin::str(name), plugin::str(value)});
  }
  plugin::check(knobs->propose(host, intents.data(), static_cast<std::uint32_t>(intents.size()), sizeof(koord_intent)),
                "proposing a plan");
}

}  // namespace koord::strategy
