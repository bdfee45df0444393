// SPDX-License-Identifier: Apache-2.0
// Label selectors of Kubernetes, as JSON values. Pure. [any thread]
#pragma once

#include <boost/json/fwd.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/state/pod.hpp"

namespace koord::state {

// A label selector of Kubernetes: `matchLabels` and `matchExpressions`. One that is missing matches nothing, an empty
// one everything, and so does one that cannot be understood match nothing.
bool selects(const boost::json::value* selector, const StringMap& labels);

// Why a selector cannot be understood; empty: it can, or is missing.
std::string selector_problem(const boost::json::value* selector);

// Finds the first of many selectors that selects a node. It checks only those without `matchLabels`, and those whose
// rarest wanted label is a label of the node. [one thread]
class FirstSelector {
 public:
  void add(const boost::json::value* selector);  // must outlive this object; null matches nothing
  // Returns its index in the order of add().
  std::optional<std::size_t> index_for(const StringMap& labels) const;

 private:
  std::vector<const boost::json::value*> selectors_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_label_;  // each by one of its labels
  std::vector<std::size_t> others_;
};

}  // namespace koord::state
