// SPDX-License-Identifier: Apache-2.0
// Subjects: which pod and container a cgroup belongs to, which values its spec decides, and which knobs its owner keeps
// strategies from by "hands off". Immutable once made: the agent makes new ones when pods change. [any thread]
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/decision/hands_off.hpp"
#include "core/knob/knob.hpp"

namespace koord::knob {

// A knob's name stands for all knobs that turn the same thing.
bool covers(const decision::HandsOff& hands_off, const Knob& knob, std::string_view plugin);

// Names that are neither of a knob nor of one of these plugins: a slip, most likely.
std::vector<std::string> unknown_names(const decision::HandsOff& hands_off, const std::vector<std::string>& plugins);

// Limits of a spec, or of its resize status; nullopt: the spec has none, or is unknown. A pod has one where each of its
// containers has one.
struct SpecLimits {
  std::optional<std::int64_t> cpu_milli = {}, memory_bytes = {};

  bool operator==(const SpecLimits&) const = default;
};

struct Subject {
  std::string pod_uid, pod_namespace, pod_name;
  std::string container = {};  // empty: the pod itself
  decision::HandsOff hands_off = {};
  bool has_own_cpus = false;  // exclusive CPUs; for a pod: a container of it has some
  SpecLimits limits = {};
  std::vector<std::string> containers = {};  // for a pod: cgroups of the containers that run as long as the pod

  bool operator==(const Subject&) const = default;
};

// How the kubelet turns limits of CPU into quotas.
struct QuotaRules {
  bool is_known = false;    // the kubelet's configuration is known; else these are its defaults
  bool is_enforced = true;  // its cpuCFSQuota
  std::int64_t period_us = 100'000;

  bool operator==(const QuotaRules&) const = default;
};

class Subjects {
 public:
  // `cgroup_dir` is the subject's and not empty; the first subject of a cgroup stays.
  void add(std::string cgroup_dir, Subject subject);
  void set_quota_rules(const QuotaRules& rules) { quota_rules_ = rules; }

  // The subject of this cgroup, or of the nearest one above it; nullptr: none.
  const Subject* of(std::string_view cgroup_dir) const;
  // The subject of exactly this cgroup.
  const Subject* at(std::string_view cgroup_dir) const;
  // The cgroup of the pod that a container's cgroup is in; empty: it is no container's.
  std::string_view pod_of(std::string_view cgroup_dir) const;
  const QuotaRules& quota_rules() const { return quota_rules_; }

  // Cgroups of pods and containers with hands off, of whichever knobs.
  const std::map<std::string, decision::HandsOff>& hands_off() const { return hands_off_; }
  // Cgroups of containers that have CPUs of their own.
  const std::set<std::string>& pinned() const { return pinned_; }

  bool operator==(const Subjects&) const = default;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, Subject, Hash, std::equal_to<>> subjects_;
  QuotaRules quota_rules_;
  std::map<std::string, decision::HandsOff> hands_off_;
  std::set<std::string> pinned_;
};

using SubjectsPtr = std::shared_ptr<const Subjects>;

}  // namespace koord::knob
