// SPDX-License-Identifier: Apache-2.0
// MemoryHost: a host in memory. The real services of the host, the real metric cache without a file, on any node tree
// and any clock, so that a plugin can run in a test, a check or a replay and meets what it will meet in an agent. [any
// thread], as the services are.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/node_roots.hpp"
#include "core/metric/labels.hpp"
#include "core/service/plugin_context.hpp"
#include "core/state/hub.hpp"

namespace koord::workshop {

// Ids of all services that a host offers.
std::set<std::string> all_services();

class MemoryHost {
 public:
  // The clock outlives the host. Throws std::runtime_error when there is no memory for a metric cache.
  MemoryHost(const NodeRoots& roots, const Clock& clock, std::string node_name);
  ~MemoryHost();
  MemoryHost(const MemoryHost&) = delete;
  MemoryHost& operator=(const MemoryHost&) = delete;

  state::Hub& hub() { return hub_; }
  metric::Registry& metrics() { return metrics_; }
  store::Store& store() { return *store_; }
  service::CapabilityBoard& capabilities() { return capabilities_; }
  service::SharedServices& services() { return services_; }
  const cgroup::Reader& cgroups() const { return cgroups_; }

  // One plugin's side of this host.
  std::unique_ptr<service::PluginContext> make_context(std::string plugin_id, std::set<std::string> granted,
                                                       std::string config_json = "{}", service::Rights rights = {});

  struct Series {
    metric::Labels labels;  // of the subject, then its own
    double value;
  };
  // The living series of a metric that have a value.
  std::vector<Series> series(std::string_view metric) const;
  // Returns the last value of the one series that has these labels among its own and its subject's; nullopt if no
  // series matches, or more than one.
  std::optional<double> value(std::string_view metric, const metric::Labels& labels = {}) const;

 private:
  std::unique_ptr<store::Store> store_;
  service::StoreFeed feed_;
  metric::Registry metrics_;
  state::Hub hub_;
  cgroup::Reader cgroups_;
  service::CapabilityBoard capabilities_;
  service::SharedServices services_;
};

}  // namespace koord::workshop
