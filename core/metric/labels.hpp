// SPDX-License-Identifier: Apache-2.0
// Labels, and the subject that the host's own labels come from. A plugin names its own labels only: the node,
// pod and container labels of a series follow from the subject that the series is bound to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace koord::metric {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Subject of a series: a pod or a container by its handle of core/state; handle 0 is the node itself.
// `labels` are those of the handle (kSubjectLabels, any order; an empty value is left out).
struct Subject {
  std::uint64_t handle = 0;
  Labels labels;
};

enum class SubjectKind : std::uint8_t { node, pod, container };  // container: also a service or another cgroup

SubjectKind kind_of(const Subject& subject);

// The labels that the host sets, in the order of a line of the exposition.
inline constexpr std::string_view kNodeLabel = "node";
inline constexpr std::string_view kSubjectLabels[] = {"container_id", "container_name", "pod_uid", "pod_name",
                                                      "pod_namespace"};

inline constexpr std::size_t kMaxOwnLabels = 16;
inline constexpr std::size_t kMaxLabelValueBytes = 1024;

// Bytes of names and values.
std::size_t bytes_of(const Labels& labels);

// A metric or label name: [a-zA-Z_][a-zA-Z0-9_]*. [any thread]
bool is_valid_name(std::string_view name);

// Own labels sorted by name and without empty values, or what is wrong with them. [any thread]
Result<Labels> checked_own_labels(Labels labels);
// Subject labels in the order above and without empty values, or what is wrong with them. [any thread]
Result<Labels> checked_subject_labels(Labels labels);

}  // namespace koord::metric
