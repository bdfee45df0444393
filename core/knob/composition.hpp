// SPDX-License-Identifier: Apache-2.0
// Composition: the value of one knob of one cgroup from all intents for it:
//   value = base × all scales, at most the strictest cap, at least the largest floor; a cap beats a floor.
// A set of priority p replaces the base and the scales
// of priority p and below; the scales also where a base outranks it. If several sets, or bases, exist, the one of the
// highest priority wins, among equals the strictest, among those the first by the proposer's name. Pure. [any thread]
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/knob/intent.hpp"
#include "core/knob/knob.hpp"

namespace koord::knob {

// The value that a knob has before scales, caps and floors, and where it comes from: "limit 1", "original".
struct Base {
  const Knob* knob = nullptr;
  Value value = {};
  std::string source = {};
};

// A bound that another cgroup gives: the cap of a cgroup around, or what the cgroups inside add up to.
struct Bound {
  const Knob* knob = nullptr;
  Value value = {};
  std::string plugin = {};      // the proposer of its intent
  std::string cgroup_dir = {};  // of the cap; empty: the cgroups inside
  Duration ttl{0};              // of that intent
};

struct Hierarchy {
  std::optional<Bound> cap = {}, floor = {};
};

// The parts of a knob's value that come from elsewhere than a container runtime's hooks.
struct OtherParts {
  std::vector<Intent> intents = {};
  std::optional<Bound> cap = {};
};

// One part of a composed value.
struct Part {
  decision::Role role = decision::Role::set;
  const Knob* knob = nullptr;
  Value value = {};
  double factor = 1;
  std::string plugin = {};  // the proposer; empty: the host
  std::string source = {};  // of a base of the host, or the cgroup of a cap
  bool binds = true;        // of a cap or floor: without it the value would be another one
};

// Whether an intent holds, and if not, which plugin's does instead. The winner of a scale that holds is the plugin of
// the bound that decides the value, else its own.
struct Verdict {
  bool holds = true;
  std::string winner;
};

struct Composition {
  const Knob* knob = nullptr;
  Value value = {};
  std::vector<Part> parts = {};        // the base or set first
  std::string winner = {};             // the plugin of the part that decides the value
  Duration ttl{0};                     // the longest of the intents
  std::vector<Verdict> verdicts = {};  // in the order of the intents

  std::optional<std::size_t> chosen = {};  // the intent with the base or set that counts
  // A bound of the hierarchy is what decides it.
  bool is_bound_by_hierarchy = false;
};

// Asked for only when no intent gives a base or a set that counts.
using BaseOf = std::function<Result<Base>()>;

// `intents`: all for one resource of one cgroup, of a file with items for one of them; none: the value that follows
// from the hierarchy alone. An error is that of the base.
Result<Composition> compose(std::span<const Intent* const> intents, const Hierarchy& hierarchy, const BaseOf& base_of);

// Does a limited value allow what the cap does not? A set: more CPUs than those of the cap.
bool exceeds(const Setting& value, const Setting& cap);
// Two caps of one value: the stricter one, of sets what both allow. Where two sets have nothing in common the first
// stays.
void tighten(Bound& bound, const Bound& other);

// The larger of two caps, or of two floors, by how much they allow.
bool is_less(const Setting& a, const Setting& b);

// "cpu.max 150000 100000 = base 100000 (limit 1) × 1.5 (qos-cpu-burst), no cap"
std::string equation(const Composition& composition);

}  // namespace koord::knob
