// SPDX-License-Identifier: Apache-2.0
// The cluster's settings that NodeSLOs are made of: the data of the ConfigMap slo-controller-config. For a section of
// the spec it has a value for all nodes, and a list of entries for some; the first entry with a matching selector
// counts. For the slo_* files of this folder. Pure. [any thread]
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "core/state/label_selector.hpp"
#include "core/state/pod.hpp"

namespace koord::state {

// The cluster's settings for one section of the spec.
struct ClusterSection {
  std::string key;      // of the ConfigMap, "resource-threshold-config"; empty: it has none for this section
  std::string problem;  // why the settings are unknown; empty: all is well
  const boost::json::value* document = nullptr;  // the value of the key; null: none that can be read
  const boost::json::value* strategy = nullptr;  // for all nodes; null: none
  const boost::json::value* entry = nullptr;     // the one for this node; null: none
  std::string entry_title;                       // "nodeStrategies[1] 'gpu'"
  std::size_t entries = 0;                       // how many there are
  const boost::json::value* list = nullptr;      // that of the entries; null: none
  std::string list_name;                         // "nodeStrategies"
  std::string_view strategy_name;                // "clusterStrategy"; empty: the document itself
};

class ClusterSlo {
 public:
  // `data`: as JSON text; empty: there is no such ConfigMap.
  explicit ClusterSlo(std::string_view data);
  ClusterSlo(ClusterSlo&&) = default;
  ClusterSlo(const ClusterSlo&) = delete;
  ClusterSlo& operator=(const ClusterSlo&) = delete;

  // `section`: a member of the spec. Valid as long as this.
  ClusterSection section(std::string_view section, const StringMap& node_labels) const;

 private:
  std::string problem_;
  boost::json::object documents_;                   // by key; text: why it is none
  std::map<std::string, FirstSelector> selectors_;  // by key: of its entries, parts of `documents_`
};

}  // namespace koord::state
