// SPDX-License-Identifier: Apache-2.0
// InactivePlugins: the plugins that propose nothing because of an invalid figure of the NodeSLO. Figures are reported
// by feature gate; this class maps gates to plugins. [any thread]
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "core/host/plugin_status.hpp"
#include "core/state/hub.hpp"

namespace koord::host {

class InactivePlugins {
 public:
  explicit InactivePlugins(const state::Hub& hub) : hub_(hub) {}

  void learn(const PluginStatus& plugin);

  struct Reason {
    bool is_whole = false;  // each feature of the plugin is inactive, and all of it
    std::string text;  // "CPUBurst is inactive: cpuBurstStrategy.cfsQuotaBurstPercent: found 90, …"; empty: no plugin
                       // is inactive
  };
  Reason why(std::string_view plugin) const;
  // `gates`: of the plugin, with commas between.
  static Reason why_of(std::string_view gates, const std::string& node_slo);

 private:
  const state::Hub& hub_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> gates_;  // by plugin
};

}  // namespace koord::host
