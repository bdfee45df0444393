// SPDX-License-Identifier: Apache-2.0
// Selects metrics of an endpoint, and maps their names and the labels of their series. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/external-prometheus/subject_index.hpp"

namespace koord::external_prometheus {

using LabelViews = std::vector<std::pair<std::string_view, std::string_view>>;

// Returns whether the text matches the pattern, in which '*' stands for any number of characters. Takes at most pattern
// × text steps.
bool glob_matches(std::string_view pattern, std::string_view text);

struct Naming {
  std::vector<std::string> allowed;                             // patterns; empty: every metric
  std::string prefix;                                           // prepended to each name that is not in `names`
  std::vector<std::pair<std::string, std::string>> names = {};  // first: name at the endpoint; second: name on this
                                                                // node

  // Returns the name on this node. nullopt: the metric is left out. A colon, which only recording rules may use,
  // becomes '_'.
  std::optional<std::string> name_of(std::string_view metric) const;
};

// The endpoint's labels that name a series' subject; empty: no such label.
struct SubjectLabels {
  std::string pod_uid;
  std::string pod_namespace, pod_name, container_name;
  std::string container_id;
  bool keep_unknown = false;  // a series of a pod that is not on this node is kept as a series of the node
};

struct Labelling {
  std::vector<std::string> keep;  // empty: all
  std::vector<std::string> drop = {};
  std::vector<std::pair<std::string, std::string>> add = {};  // override labels of the endpoint
  SubjectLabels subject = {};
};

// The destination of one series.
struct Placed {
  enum class Fate : std::uint8_t { kept, unknown_subject };
  Fate fate = Fate::kept;
  std::uint64_t subject = 0;                                 // 0: the node
  std::vector<std::pair<std::string, std::string>> changes;  // changed labels; an empty value removes a label
};

Placed place(const Labelling& rules, std::string_view target, const LabelViews& labels, const SubjectIndex& subjects);

}  // namespace koord::external_prometheus
