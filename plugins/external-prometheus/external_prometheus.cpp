// SPDX-License-Identifier: Apache-2.0
#include "plugins/external-prometheus/external_prometheus.hpp"

#include <algorithm>

namespace koord::external_prometheus {
namespace {

constexpr std::string_view kTargetLabel = "target";

std::string_view value_of(const LabelViews& labels, const std::string& name) {
  if (name.empty()) return {};
  auto found = std::find_if(labels.begin(), labels.end(), [&](const auto& label) { return label.first == name; });
  return found == labels.end() ? std::string_view() : found->second;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the handle that the labels name; 0 if it is not on this node; nullopt if the labels name no subject.
std::optional<std::uint64_t> named_subject(const SubjectLabels& rules, const LabelViews& labels,
                                           const SubjectIndex& subjects) {
  if (std::string_view id = value_of(labels, rules.container_id); !id.empty()) return subjects.container_by_id(id);
  const std::string_view uid = value_of(labels, rules.pod_uid);
  const std::string_view name = value_of(labels, rules.pod_name);
  if (uid.empty() && name.empty()) return std::nullopt;
  const std::uint64_t pod =
      uid.empty() ? subjects.pod_by_name(value_of(labels, rules.pod_namespace), name) : subjects.pod_by_uid(uid);
  const std::string_view container = value_of(labels, rules.container_name);
  // The kubelet's cAdvisor reports "POD" for the sandbox of old Docker.
  if (pod == 0 || container.empty() || container == "POD") return pod;
  return subjects.container_by_name(pod, container);
}

bool names_the_subject(const SubjectLabels& rules, std::string_view label) {
  return label == rules.pod_uid || label == rules.pod_namespace || label == rules.pod_name ||
         label == rules.container_name || label == rules.container_id;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t p = 0, t = 0, star = kNone, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != kNone) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == kNone;
}

std::optional<std::string> Naming::name_of(std::string_view metric) const {
  auto allows = [metric](const std::string& pattern) { return glob_matches(pattern, metric); };
  if (!allowed.empty() && std::none_of(allowed.begin(), allowed.end(), allows)) return std::nullopt;
  for (const auto& [from, to] : names) {
    if (from == metric) return to;
  }
  std::string name = prefix + std::string(metric);
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

Placed place(const Labelling& rules, std::string_view target, const LabelViews& labels, const SubjectIndex& subjects) {
  Placed placed;
  const std::optional<std::uint64_t> subject = named_subject(rules.subject, labels, subjects);
  if (subject == std::uint64_t{0} && !rules.subject.keep_unknown) {
    placed.fate = Placed::Fate::unknown_subject;
    return placed;
  }
  placed.subject = subject.value_or(0);
  for (const auto& [name, value] : labels) {
    const bool stays = (rules.keep.empty() || contains(rules.keep, name)) && !contains(rules.drop, name) &&
                       (placed.subject == 0 || !names_the_subject(rules.subject, name));
    if (!stays) placed.changes.emplace_back(name, "");
    if (name != kTargetLabel) continue;
    if (stays) placed.changes.emplace_back("exported_target", value);
  }
  placed.changes.emplace_back(kTargetLabel, target);
  for (const auto& [name, value] : rules.add) placed.changes.emplace_back(name, value);
  return placed;
}

}  // namespace koord::external_prometheus
