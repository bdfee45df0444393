// SPDX-License-Identifier: Apache-2.0
// The arbiter: of all that is wished for one knob of one cgroup, which wish holds. The highest priority wins, among equals
// the strictest value, among those the first by the proposer's name; a wish for the winner's value holds, too. Pure.
// [any thread]
#pragma once

#include <vector>

#include "core/knob/knob.hpp"
#include "core/knob/plan_sink.hpp"

namespace koord::knob {

struct Wish {
  Proposer proposer;
  Intent intent;
  const Knob* knob = nullptr;
  Value value = {};
};

// The wishes for one resource of one cgroup, of a file with items for one of them: the winner is the first.
using Contest = std::vector<Wish*>;

std::vector<Contest> arbitrate(std::vector<Wish*> wishes);

// Does the winner's value satisfy this wish?
bool agrees(const Wish& winner, const Wish& wish);

}  // namespace koord::knob
