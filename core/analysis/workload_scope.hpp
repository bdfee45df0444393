// SPDX-License-Identifier: Apache-2.0
// WorkloadScope: the workloads that a rule is about, by namespace, labels and owner of their pods. Pure. [any thread]
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace koord::analysis {

// "Deployment", "cart"
struct WorkloadOwner {
  std::string kind, name;

  bool operator==(const WorkloadOwner&) const = default;
};

// Returns the owner as the cluster has it: of a pod with the owner ReplicaSet "cart-7d9f" and the label
// pod-template-hash 7d9f it is the Deployment "cart". Any other is returned as it is.
WorkloadOwner owner_in_cluster(WorkloadOwner owner, std::string_view template_hash);

// Properties of a pod.
struct WorkloadFacts {
  std::string namespace_;
  std::map<std::string, std::string> labels;
  WorkloadOwner owner;  // of the pod itself; empty: it has none
};

enum class LabelOperator { in, not_in, exists, does_not_exist };

// A requirement of a label selector of Kubernetes. A label of matchLabels is LabelOperator::in with one value.
struct LabelRequirement {
  std::string key;
  LabelOperator op{};
  std::vector<std::string> values;  // of `in` and `not_in`

  bool holds(const std::map<std::string, std::string>& labels) const;
  bool operator==(const LabelRequirement&) const = default;
};

struct WorkloadScope {
  std::vector<std::string> namespaces;   // empty: all
  std::vector<LabelRequirement> labels;  // each must hold
  std::vector<WorkloadOwner> owners;     // empty: any, and none

  // A Deployment's pods are also those of its ReplicaSet.
  bool contains(const WorkloadFacts& pod) const;
  bool operator==(const WorkloadScope&) const = default;
};

}  // namespace koord::analysis
