// SPDX-License-Identifier: Apache-2.0
// Subject of a model: the node, its usage outside of pods ("system"), all pods of a priority class, or one pod.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/state/pod.hpp"

namespace koord::predict {

struct Subject {
  enum class Kind : std::uint8_t { node, system, priority_class, pod };

  Kind kind = Kind::node;
  state::PriorityClass priority_class = state::PriorityClass::none;
  std::string pod_uid;

  auto operator<=>(const Subject&) const = default;
};

inline Subject node_subject() { return {}; }
inline Subject system_subject() { return {Subject::Kind::system, {}, {}}; }
inline Subject class_subject(state::PriorityClass klass) { return {Subject::Kind::priority_class, klass, {}}; }
inline Subject pod_subject(std::string uid) { return {Subject::Kind::pod, {}, std::move(uid)}; }

inline constexpr state::PriorityClass kPriorityClasses[] = {state::PriorityClass::none, state::PriorityClass::prod,
                                                            state::PriorityClass::mid, state::PriorityClass::batch,
                                                            state::PriorityClass::free};

// Returns "node", "system", "class/koord-prod", "class/none" or "pod/<uid>".
std::string to_string(const Subject& subject);
Result<Subject> parse_subject(std::string_view text);

}  // namespace koord::predict
