// SPDX-License-Identifier: Apache-2.0
// Controllers: watches Nodes, Pods, NodeMetrics, NodeSLOs and the ConfigMap slo-controller-config. While this replica
// leads, it writes the changes that the pure parts of this folder decide. A standby watches them, too, so it can take
// over immediately. [loop thread]
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/kube/client.hpp"
#include "core/kube/events.hpp"
#include "core/kube/reflector.hpp"
#include "core/manager/batch_nodes.hpp"
#include "core/manager/ignored_settings.hpp"
#include "core/manager/per_node_objects.hpp"

namespace koord::manager {

class Controllers {
 public:
  static constexpr std::size_t kMostLine = 2'048;  // bytes of a problem

  struct Parts {
    event::Loop& loop;
    event::WorkerPool& workers;
    const Clock& clock;
    kube::Client& client;
    kube::Events& events;
    // Returns whether this replica leads, by the clock. It may return false before lead(false) is called, if the
    // process was suspended for a while.
    std::function<bool()> leads;
  };
  struct Options {
    std::string config_map;   // "namespace/name"
    bool node_slo = true;     // write NodeSLOs
    bool node_metric = true;  // create and remove NodeMetrics
    bool batch = true;        // write batch and mid resources
    BatchNodes::Options batch_options = {};
    WriteBounds::Limits bounds = {};
    kube::ReflectorOptions reflector = {};
  };

  Controllers(Parts parts, Options options);
  ~Controllers();
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;

  void lead(bool leads);
  // Takes a report that did not come from the watch of NodeMetrics, such as an agent's report to the aggregated API.
  void take_report(const std::string& node, std::string_view node_metric);

  struct Watch {
    std::string kind;
    kube::Health health;
  };
  struct Status {
    std::vector<Watch> watches;
    std::vector<std::string> settings_problems;  // with the ConfigMap, one line each; logged when they begin
    std::vector<std::string> problems;           // with nodes and writes, one line each
    std::vector<std::string> rejected;           // keys of the ConfigMap with an invalid document
    IgnoredSettings ignored;                     // in the ConfigMap
    const PerNodeObjects* slos = nullptr;        // null: this controller is off
    const PerNodeObjects* metrics = nullptr;
    const BatchNodes* batch = nullptr;
  };
  Status status() const;
  bool is_synced() const;  // every watch has listed its objects
  // Returns the names of all nodes; empty if they are unknown or not up to date.
  std::vector<std::string> nodes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::manager
