// SPDX-License-Identifier: Apache-2.0
// Chooses the metrics of an endpoint that are taken, their names here, and the labels of their series. Pure.
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

// Whether a '*' of the pattern can stand for what is missing, any number of characters. Takes at most
// pattern × text steps.
bool glob_matches(std::string_view pattern, std::string_view text);

struct Naming {
  std::vector<std::string> allowed;                             // patterns; none: every metric
  std::string prefix;                                           // before each name that is not in `names`
  std::vector<std::pair<std::string, std::string>> names = {};  // from, to

  // Nothing: this metric stays out. A colon, which only recording rules may use, becomes '_'.
  std::optional<std::string> name_of(std::string_view metric) const;
};

// The labels of the endpoint that name a series' subject; empty: none does.
struct SubjectLabels {
  std::string pod_uid;
  std::string pod_namespace, pod_name, container_name;
  std::string container_id;
  bool keep_unknown = false;  // a series of a pod that is not on this node stays, as one of the node
};

struct Labelling {
  std::vector<std::string> keep;  // none: all
  std::vector<std::string> drop = {};
  std::vector<std::pair<std::string, std::string>> add = {};  // over what the endpoint has
  SubjectLabels subject = {};
};

// The destination of one series.
struct Placed {
  enum class Fate : std::uint8_t { kept, unknown_subject };
  Fate fate = Fate::kept;
  std::uint64_t subject = 0;                                 // 0: the node
  std::vector<std::pair<std::string, std::string>> changes;  // of labels; an empty value takes one away
};

Placed place(const Labelling& rules, std::string_view target, const LabelViews& labels, const SubjectIndex& subjects);

}  // namespace koord::external_prometheus
