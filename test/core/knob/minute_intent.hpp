// SPDX-License-Identifier: Apache-2.0
// An intent of a strategy that sees a busy node. It expires after a minute.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "core/knob/intent.hpp"

namespace koord::test {

inline knob::Intent minute_intent(decision::Level level, std::string knob, std::string dir, std::string value,
                                  std::int32_t priority) {
  knob::Intent made;
  made.level = level;
  made.knob = std::move(knob);
  made.cgroup_dir = std::move(dir);
  made.value = std::move(value);
  made.reason = "the node is busy";
  made.inputs = {{"node_cpu_usage", "7.3"}};
  made.priority = priority;
  made.ttl = std::chrono::minutes(1);
  return made;
}

}  // namespace koord::test
