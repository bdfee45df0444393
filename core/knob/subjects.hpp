// SPDX-License-Identifier: Apache-2.0
// Subjects: which pod and container a cgroup belongs to, and what of it nobody may turn because its owner said "hands off".
// Immutable once made: the agent makes new ones when pods change. [any thread]
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/knob/knob.hpp"

namespace koord::knob {

// An annotation of a pod: "true", or what is not to be turned: knobs and plugins, separated by commas. "false" and what is
// not there mean nothing.
inline constexpr std::string_view kHandsOffAnnotation = "koordetector.sh/hands-off";

struct HandsOff {
  bool all = false;
  std::vector<std::string> names = {};  // of knobs and plugins

  // A knob's name stands for all knobs that turn the same thing.
  bool covers(const Knob& knob, std::string_view plugin) const;
  bool operator==(const HandsOff&) const = default;
};
HandsOff parse_hands_off(std::string_view annotation);

// Names that are neither of a knob nor of one of these plugins: a slip, most likely.
std::vector<std::string> unknown_names(const HandsOff& hands_off, const std::vector<std::string>& plugins);

struct Subject {
  std::string pod_uid, pod_namespace, pod_name;
  std::string container = {};  // empty: the pod itself
  HandsOff hands_off = {};
  bool has_own_cpus = false;  // of a container: on which nobody else runs

  bool operator==(const Subject&) const = default;
};

class Subjects {
 public:
  // `cgroup_dir` is the subject's and not empty; one that was said before stays.
  void add(std::string cgroup_dir, Subject subject);

  // Whose this cgroup is, or the nearest one above it; nullptr: nobody's.
  const Subject* of(std::string_view cgroup_dir) const;

  // Cgroups of containers that have CPUs of their own.
  const std::set<std::string>& pinned() const { return pinned_; }

  bool operator==(const Subjects&) const = default;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, Subject, Hash, std::equal_to<>> subjects_;
  std::set<std::string> pinned_;
};

using SubjectsPtr = std::shared_ptr<const Subjects>;

}  // namespace koord::knob
