// SPDX-License-Identifier: Apache-2.0
// Knob: the table of knobs, by their logical names (those of cgroup v2): where each version of cgroups keeps one, which
// values it takes, and which of two values asks more. Knobs that hold a line for each device (io.max and its likes) are
// not among them. Pure functions. [any thread]
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cpu_set.hpp"
#include "core/base/result.hpp"
#include "core/cgroup/layout.hpp"

namespace koord::knob {

enum class Form {
  bandwidth,  // "20000 100000": quota and period in µs; "max", "max 100000": no limit
  amount,     // a number; "max": no limit
  number,     // a number, no more
  shares,     // cpu.shares; v2 keeps it as a weight
  set,        // "0-3,8", not empty
};

struct Knob {
  std::string_view name;
  std::string_view resource;  // knobs of one resource turn the same thing
  cgroup::Controller controller;
  Form form;
  // Empty: this version does not have it. v1 keeps a bandwidth in two files, quota and period.
  std::string_view v2_file, v1_file, v1_period_file;
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  bool large_is_strict = false;  // what others give up grows with it: a protection, a switch
};

// nullptr for an unknown name.
const Knob* find_knob(std::string_view name);
// An error that names the nearest known knob.
Result<const Knob*> knob_named(std::string_view name);

inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

// What is not of the knob's form stays as it is here.
struct Value {
  std::int64_t amount = 0;
  std::int64_t period_us = 0;
  CpuSet set = {};
};

// As a strategy proposes it; an error says what was expected.
Result<Value> parse_value(const Knob& knob, std::string_view text);
std::string spell(const Knob& knob, const Value& value);

// The same to the kernel: no limit is no limit whatever the period.
bool same(const Knob& knob, const Value& a, const Value& b);

// A value with the knob that it is meant for; both knobs are of one resource.
struct Setting {
  const Knob& knob;
  const Value& value;
};
// Does `a` leave the cgroup less, or others more, than `b`?
bool is_stricter(const Setting& a, const Setting& b);

// What allows all that both allow: a parent must have it while children go from the one to the other.
Value widest(const Knob& knob, const Value& a, const Value& b);

// The texts of the knob's kernel files on this version, in the order of files_of(), both ways. What is read may be
// outside the range that may be proposed.
using Texts = std::vector<std::string>;
std::vector<std::string_view> files_of(const Knob& knob, cgroup::Version version);
Texts encode(const Knob& knob, const Value& value, cgroup::Version version);
Result<Value> decode(const Knob& knob, const Texts& texts, cgroup::Version version);

}  // namespace koord::knob
