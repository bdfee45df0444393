// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/strategy/proposal.hpp"

namespace koord::strategy {
namespace {

koord_intent intent_of(const Wish& wish, const koord_label* inputs, std::chrono::nanoseconds ttl) {
  koord_intent intent{};
  intent.struct_size = sizeof intent;
  intent.level = wish.level;
  intent.knob = plugin::str(wish.knob);
  intent.cgroup_dir = plugin::str(wish.cgroup_dir);
  intent.value = plugin::str(wish.value);
  intent.reason = plugin::str(wish.reason);
  intent.inputs = inputs;
  intent.n_inputs = static_cast<std::uint32_t>(wish.inputs.size());
  intent.input_stride = sizeof(koord_label);
  intent.priority = wish.priority;
  intent.role = wish.role;
  intent.ttl_ns = static_cast<std::uint64_t>(ttl.count());
  return intent;
}

}  // namespace

void propose(const koord_host* host, const koord_svc_knobs* knobs, const Wishes& wishes, std::chrono::nanoseconds ttl) {
  std::size_t n_inputs = 0;
  for (const Wish& wish : wishes) n_inputs += wish.inputs.size();
  std::vector<koord_label> inputs;  // of all
  inputs.reserve(n_inputs);
  std::vector<koord_intent> intents;
  intents.reserve(wishes.size());
  for (const Wish& wish : wishes) {
    intents.push_back(intent_of(wish, inputs.data() + inputs.size(), ttl));
    for (const auto& [name, value] : wish.inputs) inputs.push_back({plugin::str(name), plugin::str(value)});
  }
  plugin::check(knobs->propose(host, intents.data(), static_cast<std::uint32_t>(intents.size()), sizeof(koord_intent)), "proposing a plan");
}

}  // namespace koord::strategy
