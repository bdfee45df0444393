// SPDX-License-Identifier: Apache-2.0
// The fields of a NodeSLO's spec: their types, ranges and defaults, in one table, which the merge (slo.hpp), its checks
// and the explanations (slo_explain.hpp) are made of. Constants. [any thread]
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace koord::state {

enum class SloType : std::uint8_t {
  boolean,
  integer,
  choice,  // one of a few words
  text,
  path,      // text that stays within the cgroup tree
  quantity,  // as Kubernetes writes amounts
  share,     // an integer is percent, text a quantity
  object,
  list,      // of objects
  flags,     // names with a boolean each
  anything,  // not looked at
};

// The class that selects the defaults of a section that exists for each class; outside of them it is `general`.
enum class SloProfile : std::uint8_t { general, lsr, ls, be, system, root };

// JSON; empty: no value. `off`: what a class has while the section's `enable` is false.
struct SloDefaults {
  std::string_view general, lsr, ls, be, system, root, off;

  std::string_view of(SloProfile profile) const;
};

inline constexpr std::int64_t kNoMost = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kNoLeast = std::numeric_limits<std::int64_t>::min();

struct SloField {
  std::string_view name;
  SloType type = SloType::anything;
  std::string_view meaning;  // a phrase, with its unit
  SloDefaults defaults = {};
  std::string_view unset = {};  // the effective value without a setting, if not empty
  std::int64_t least = kNoLeast, most = kNoMost;
  std::string_view choices = {};             // "cpuset|cfsQuota"
  std::string_view below = {};               // the field beside it that must be larger
  bool required = false;                     // an entry of a list is none without it
  bool vital = false;                        // an entry of a list is dropped when this is wrong
  std::span<const SloField> fields = {};     // of an object, or of a list's entries
  SloProfile profile = SloProfile::general;  // of an object for one class; else it has that of what it lies in
  // Feature gates that use this field and never act on an invalid value: "BECPUEvict|CPUEvict" (slo_inactive.hpp).
  std::string_view strategies = {};
  std::string_view inactive = {};  // JSON, its value while all of them are inactive; empty: no value
};

// The spec's own fields.
std::span<const SloField> slo_schema();

// "an integer from 0 to 100", "one of cpuset, cfsQuota"
std::string expected_of(const SloField& field);

// The section of the schema that a class switches on and off, and that is replaced while it is off.
bool is_switched(const SloField& section);

}  // namespace koord::state
