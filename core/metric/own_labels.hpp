// SPDX-License-Identifier: Apache-2.0
// OwnLabels: the labels that a plugin gave a series, in addition to those of its subject. Many series have equal ones,
// such as quantile="0.5", so OwnLabelsPool keeps each set once. Part of the registry, under its lock.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/metric/labels.hpp"

namespace koord::metric {

struct OwnLabels {
  Labels labels;
  std::string_view text;  // rendered, behind the subject's
  std::size_t users = 0;
};

class OwnLabelsPool {
 public:
  // Returns the set with these labels, null for none. The caller must release() it. `first`: no label is in front of
  // them.
  const OwnLabels* take(Labels labels, bool first);
  // One user more. Null stays null.
  const OwnLabels* share(const OwnLabels* own);
  void release(const OwnLabels* own);

  std::size_t size() const { return sets_.size(); }

 private:
  std::unordered_map<std::string, OwnLabels> sets_;  // by their text
};

}  // namespace koord::metric
