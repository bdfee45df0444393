// SPDX-License-Identifier: Apache-2.0
// The base of a knob as a pod's spec decides it: the kubelet's rules for cpu.max and memory.max. Pure functions. [any
// thread]
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/knob/knob.hpp"
#include "core/knob/subjects.hpp"

namespace koord::knob {

struct SpecBase {
  Value value;
  std::string source;  // "limit 1", "limit 512Mi", "cpuCFSQuota is off"
  // A revert writes it. Not so where the spec allows more than one value: the original is one of these.
  bool is_reverted_to = true;
  // The kubelet enforces it, as its configuration says; else a cgroup without a limit shows that it does not.
  bool is_enforced = false;
};

// nullopt: the spec does not decide this knob of this cgroup, or is unknown.
std::optional<SpecBase> spec_base(const Subjects& subjects, const Knob& knob, std::string_view cgroup_dir);

// For a cgroup that had `before` when the agent had not written to it: the base of the spec, unless that cgroup was
// without a limit and the kubelet is not known to enforce it. If the kubelet's period is unknown, it is that of
// `before`. A quota that systemd has rounded up is the spec's.
std::optional<SpecBase> spec_base_over(const Subjects& subjects, const Knob& knob, std::string_view cgroup_dir,
                                       const Value& before);

}  // namespace koord::knob
