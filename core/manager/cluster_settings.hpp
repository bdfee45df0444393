// SPDX-License-Identifier: Apache-2.0
// ClusterSettings: reads all documents of the ConfigMap slo-controller-config. It keeps the last valid document of each
// key, and reports problems with invalid documents, including as Events of the ConfigMap. Pure. [one thread]
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "core/kube/event_aggregator.hpp"
#include "core/kube/object_set.hpp"
#include "core/manager/colocation.hpp"
#include "core/manager/ignored_settings.hpp"
#include "core/state/slo_settings.hpp"

namespace koord::manager {

class ClusterSettings {
 public:
  explicit ClusterSettings(std::string config_map) : config_map_(std::move(config_map)) {}  // "namespace/name"

  void take(const kube::KeptObject* config_map);  // null: the server has none
  bool is_known() const { return is_known_; }     // it was read, or the server has confirmed that it is missing

  const state::SloSettings& slo() const { return slo_; }
  const ColocationSettings& colocation() const { return colocation_; }
  bool has_colocation() const { return has_colocation_; }  // has a colocation document

  struct Change {
    bool is_problem = false;
    std::string text;
  };
  // Returns what differs from the ConfigMap before, one line each: for the log.
  const std::vector<Change>& changes() const { return changes_; }

  // Returns rejected documents and settings without effect, one line each.
  std::vector<std::string> problems() const;
  std::vector<std::string> rejected() const;  // keys with an invalid document
  const IgnoredSettings& ignored() const { return ignored_; }
  std::vector<kube::EventInput> events() const;
  // Returns a warning Event about the ConfigMap.
  kube::EventInput event(std::string reason, std::string message) const;

 private:
  void take_colocation(const boost::json::object& map);
  void note_changes(const std::vector<std::string>& lines_before, const std::vector<std::string>& rejected_before,
                    const boost::json::object* map);  // null: the data cannot be read

  const std::string config_map_;
  std::string uid_;
  bool is_known_ = false;
  state::SloSettings slo_;
  ColocationSettings colocation_;
  bool has_colocation_ = false;
  std::vector<state::SettingsProblem> problems_;
  IgnoredSettings ignored_;
  std::vector<Change> changes_;
};

}  // namespace koord::manager
