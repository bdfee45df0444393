// SPDX-License-Identifier: Apache-2.0
// WorkloadScope: selects the workloads of a rule by namespace, labels and owner of their pods. Pure. [any thread]
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace koord::analysis {

// The owner of a pod, such as "Deployment", "cart".
struct WorkloadOwner {
  std::string kind, name;

  bool operator==(const WorkloadOwner&) const = default;
};

// Returns the owner that users know: for a pod with the owner ReplicaSet "cart-7d9f" and the label pod-template-hash
// 7d9f it is the Deployment "cart". Any other owner is returned unchanged.
WorkloadOwner owner_in_cluster(WorkloadOwner owner, std::string_view template_hash);

// The properties of a pod.
struct WorkloadFacts {
  std::string namespace_;
  std::map<std::string, std::string> labels;
  WorkloadOwner owner;  // direct owner of the pod; empty: none
};

enum class LabelOperator { in, not_in, exists, does_not_exist };

// A requirement of a label selector of Kubernetes. A label of matchLabels is LabelOperator::in with one value.
struct LabelRequirement {
  std::string key;
  LabelOperator op{};
  std::vector<std::string> values;  // for `in` and `not_in`

  bool holds(const std::map<std::string, std::string>& labels) const;
  bool operator==(const LabelRequirement&) const = default;
};

struct WorkloadScope {
  std::vector<std::string> namespaces;   // empty: all
  std::vector<LabelRequirement> labels;  // all must be fulfilled
  std::vector<WorkloadOwner> owners;     // empty: any owner, or no owner

  // Returns whether the pod is in the scope. The pods of a Deployment include the pods of its ReplicaSets.
  bool contains(const WorkloadFacts& pod) const;
  bool operator==(const WorkloadScope&) const = default;
};

}  // namespace koord::analysis
