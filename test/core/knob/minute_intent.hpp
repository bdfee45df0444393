// SPDX-License-Identifier: Apache-2.0
// An intent of a strategy on a busy node. It expires after a minute.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/knob/intent.hpp"
#include "test/support/made_intent.hpp"

namespace koord::test {

inline knob::Intent minute_intent(decision::Level level, std::string_view knob, std::string dir, std::string value,
                                  std::int32_t priority, decision::Role role = decision::Role::set) {
  knob::Intent made = made_intent(knob, std::move(value), role);
  made.level = level;
  made.cgroup_dir = std::move(dir);
  made.reason = "the node is busy";
  made.inputs = {{"node_cpu_usage", "7.3"}};
  made.priority = priority;
  made.ttl = std::chrono::minutes(1);
  return made;
}

}  // namespace koord::test
