// SPDX-License-Identifier: Apache-2.0
// Decision: a record of one intent for one knob of one cgroup: its reason and inputs, the value before, the parts of
// the composed value, and the result. Evictions and changes of modes have such records, too. And a query for them.
// Plain values.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/decision/intent_terms.hpp"
#include "core/decision/outcome.hpp"

namespace koord::decision {

// The subject of a decision.
enum class DecisionKind : std::uint8_t {
  knob,
  eviction,  // of a pod
  mode,      // of a plugin or the node
  hook,      // a field of a runtime hook's answer for a pod or container that was being made or updated
};
std::string_view name_of(DecisionKind kind);  // "eviction"
// An error names all.
Result<DecisionKind> parse_decision_kind(std::string_view text);

struct Decision {
  std::uint64_t number = 0;  // from 1, in the order in which they were made
  Time time{};
  std::int64_t wall_ns = 0;  // the same by the wall clock then
  DecisionKind kind = DecisionKind::knob;
  std::string plugin, strategy;  // that proposed it
  std::string cgroup_dir, knob;  // empty where the kind is another; of a hook: its field, "env:NAME"
  // The owner of the cgroup at that time; empty: no pod, the pod itself.
  std::string pod_uid, pod_namespace, pod_name, container;
  Level level = Level::qos;
  std::int32_t priority = 0;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> inputs;
  std::string before, wanted, after;  // of the knob; empty: not known. In a hook's record they are the value that the
                                      // runtime requested, that of the hook, and the one that the runtime got
  Outcome outcome = Outcome::off;
  std::string winner;   // the plugin of the winning intent
  std::string problem;  // the kernel's error
  Role role = Role::set;
  std::string composition;  // all parts of the value: "cpu.max 150000 100000 = base 100000 (limit 1) × 1.5
                            // (qos-cpu-burst), no cap"

  bool operator==(const Decision&) const = default;
};

// Empty fields match everything.
struct DecisionQuery {
  static constexpr std::size_t kMostRecords = 1000;

  std::uint64_t before = std::numeric_limits<std::int64_t>::max();                 // only records of smaller numbers
  std::int64_t since_ns = 0, until_ns = std::numeric_limits<std::int64_t>::max();  // by the wall clock, both included
  std::string pod = {};                                                            // uid, name or namespace/name
  std::string cgroup = {};                                                         // and all below it
  std::optional<DecisionKind> kind = {};
  std::string knob = {}, plugin = {};
  std::optional<Outcome> outcome = {};
  std::size_t limit = kMostRecords;
};
bool matches(const DecisionQuery& query, const Decision& decision);

// The newest that match, the oldest of them first.
struct DecisionPage {
  std::vector<Decision> decisions;
  bool has_older = false;  // ask for those before the first of these
};

}  // namespace koord::decision
