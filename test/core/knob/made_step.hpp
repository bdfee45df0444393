// SPDX-License-Identifier: Apache-2.0
// Makes steps as the executor passes them to the planner.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/knob/step.hpp"

namespace koord::test {

inline knob::Step made_step(std::string dir, const knob::Knob& knob, knob::Value now, knob::Value target) {
  knob::Step step;
  step.key = {std::move(dir), std::string(knob.resource), {}};
  step.knob = &knob;
  step.target = std::move(target);
  step.before = step.now.value = std::move(now);
  return step;
}

inline std::vector<knob::Step*> pointers_to(std::vector<knob::Step>& steps) {
  std::vector<knob::Step*> pointers;
  for (knob::Step& step : steps) pointers.push_back(&step);
  return pointers;
}

}  // namespace koord::test
