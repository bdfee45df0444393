// SPDX-License-Identifier: Apache-2.0
#include "core/knob/arbiter.hpp"

#include <algorithm>
#include <tuple>

namespace koord::knob {
namespace {

auto contest_of(const Wish& wish) { return std::tie(wish.intent.cgroup_dir, wish.knob->resource, wish.value.item); }

bool goes_first(const Wish* a, const Wish* b) {
  if (contest_of(*a) != contest_of(*b)) return contest_of(*a) < contest_of(*b);
  if (a->intent.priority != b->intent.priority) return a->intent.priority > b->intent.priority;
  const Setting of_a{*a->knob, a->value}, of_b{*b->knob, b->value};
  if (is_stricter(of_a, of_b)) return true;
  if (is_stricter(of_b, of_a)) return false;
  return std::tie(a->proposer, a->intent.value) < std::tie(b->proposer, b->intent.value);
}

}  // namespace

std::vector<Contest> arbitrate(std::vector<Wish*> wishes) {
  std::stable_sort(wishes.begin(), wishes.end(), goes_first);
  std::vector<Contest> contests;
  for (Wish* wish : wishes) {
    if (contests.empty() || contest_of(*contests.back().front()) != contest_of(*wish)) contests.emplace_back();
    contests.back().push_back(wish);
  }
  return contests;
}

bool agrees(const Wish& winner, const Wish& wish) {
  return winner.knob == wish.knob && same(*wish.knob, winner.value, wish.value);
}

}  // namespace koord::knob
