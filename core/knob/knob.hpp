// SPDX-License-Identifier: Apache-2.0
// Knob: the table of knobs, by their logical names (those of cgroup v2): where each version of cgroups keeps one, which
// values it takes, and which of two values asks more. A file that holds a line for each device, or a word for each
// feature, is as many knobs: an item each. Pure functions. [any thread]
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cpu_set.hpp"
#include "core/base/result.hpp"
#include "core/cgroup/layout.hpp"
#include "core/decision/intent_terms.hpp"

namespace koord::knob {

enum class Form {
  bandwidth,   // "20000 100000": quota and period in µs; "max", "max 100000": no limit
  amount,      // a number; "max": no limit
  number,      // a number, no more
  shares,      // cpu.shares; v2 keeps it as a weight
  cpu_weight,  // cpu.weight; v1 keeps it as shares
  set,         // "0-3,8", not empty
  fields,      // "8:16 rbps=1048576 wbps=max": of the item 8:16
  weight,      // "default 100", "8:16 100", "8:16 default": of the item before the space
  feature,     // "NAME", "NO_NAME": of the item NAME
  masks,       // "0=ff;1=f0": of each cache, in hexadecimal
  amounts,     // "0=50;1=100": of each cache
  group,       // the name of a resctrl group; "" or "/": the root's
  score,       // oom_score_adj of processes: of most of them, and of those that have another
  core_group,  // the name of a group of processes that may share a core; "": with all without a group
  traffic,     // "1=RATE:CEIL:PRIORITY;…": all classes of an interface (knob/traffic_text.hpp)
  idle,        // cpu.idle: 0, 1; the kernel changes the cgroup's weight with it
};

enum class Place {
  cgroup,         // a file of a cgroup
  root_cgroup,    // a file that only the root cgroup has
  proc,           // below the node's proc, path in v2_file
  sys,            // below its sys
  schemata,       // a line of a resctrl group's schemata, v2_file is its word
  resctrl_tasks,  // in which resctrl groups the threads of a cgroup are
  processes,      // a value of each process of a container
  interface,      // a network interface of the node
  resctrl_group,  // whether a resctrl group is there: 0, 1; not to be proposed
};

using FileNames = std::array<std::string_view, 4>;

struct Knob {
  std::string_view name;
  std::string_view resource;  // knobs of one resource turn the same thing
  Place place;
  cgroup::Controller controller;  // of a place in cgroups
  Form form;
  // Empty: this version does not have it. v1 keeps a bandwidth in two files, quota and period, and io.max in four.
  std::string_view v2_file;
  FileNames v1_files;
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  bool large_is_strict = false;  // reduces the resources of others: a protection, a switch
  bool is_one_shot = false;      // done once, each time that it is proposed; nothing to read, nothing to revert
};

// Does one file of it hold a value for each of several items?
constexpr bool has_items(const Knob& knob) {
  return knob.form == Form::fields || knob.form == Form::weight || knob.form == Form::feature;
}

std::span<const Knob> all_knobs();
// nullptr for an unknown name.
const Knob* find_knob(std::string_view name);
// An error that names the nearest known knob.
Result<const Knob*> knob_named(std::string_view name);
// May this knob be proposed at this level, for this cgroup or group?
Result<void> check_place(const Knob& knob, decision::Level level, std::string_view cgroup_dir);

// The least quota that the kernel takes, and the kubelet writes.
inline constexpr std::int64_t kLeastQuotaUs = 1000;
// The largest quota that the kernel takes (max_cfs_runtime).
inline constexpr std::int64_t kMostQuotaUs = (1LL << 44) - 1;
inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

using Fields = std::map<std::string, std::string, std::less<>>;

// Members that do not apply to the knob's form stay at their defaults.
struct Value {
  std::int64_t amount = 0;
  std::int64_t period_us = 0;
  CpuSet set = {};
  std::string item = {};  // which of the file's knobs this is of: a device, a feature
  // The fields of a line, or one for each cache; names of resctrl or core groups; scores that differ ("PID@START").
  Fields fields = {};
};

// As a strategy proposes it; an error says what was expected.
Result<Value> parse_value(const Knob& knob, std::string_view text);
std::string spell(const Knob& knob, const Value& value);

// Has `now` all that `wanted` says? No limit is no limit whatever the period; of a line, fields that are not named do
// not matter.
bool same(const Knob& knob, const Value& now, const Value& wanted);

// A value with the knob that it is meant for; both knobs are of one resource.
struct Setting {
  const Knob& knob;
  const Value& value;
};
// Does `a` leave the cgroup less, or others more, than `b`?
bool is_stricter(const Setting& a, const Setting& b);

// A value that allows all that both allow: a parent must have it while children go from the one to the other. For knobs
// without parents it is `b`.
Value widest(const Knob& knob, const Value& a, const Value& b);

// The texts of the knob's kernel files on this version, in the order of files_of(), both ways; for a knob with items,
// the item's line, "" if missing. Read values may be outside the range of proposals. Only for knobs in cgroups does the
// version matter.
using Texts = std::vector<std::string>;
std::vector<std::string_view> files_of(const Knob& knob, cgroup::Version version);
Texts encode(const Knob& knob, const Value& value, cgroup::Version version);
Result<Value> decode(const Knob& knob, const Texts& texts, cgroup::Version version, std::string_view item = {});

// Returns whether the kernel shows the written value. Derived values, as the weight of a cgroup from cpu.idle, may
// differ.
bool says(const Knob& knob, const Texts& now, const Texts& written);

// A knob of processes: has each process that existed when one of `ours` was read a value that one of them gives it?
// Processes that started later are new, and do not matter.
bool is_any_of(const Knob& knob, const Texts& now, const std::vector<const Texts*>& ours);

// The text of one file about one item; "": none.
std::string item_of(const Knob& knob, std::string_view content, std::string_view item);
// The text that removes the kernel's own setting of the item.
std::string unset_text(const Knob& knob, cgroup::Version version, std::string_view item);

}  // namespace koord::knob
