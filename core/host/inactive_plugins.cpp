// SPDX-License-Identifier: Apache-2.0
#include "core/host/inactive_plugins.hpp"

#include <boost/json.hpp>

#include "core/base/parse.hpp"
#include "core/json/reader.hpp"
#include "core/state/slo_inactive.hpp"

namespace koord::host {

void InactivePlugins::learn(const PluginStatus& plugin) {
  if (plugin.id.empty()) return;
  std::lock_guard lock(mutex_);
  gates_.insert_or_assign(plugin.id, plugin.gate);
}

InactivePlugins::Reason InactivePlugins::why_of(std::string_view gates, const std::string& node_slo) {
  const Result<boost::json::value> spec = read_json(node_slo);
  if (!spec) return {};
  const state::InactiveStrategies inactive(*spec);
  Reason reason{.is_whole = !gates.empty()};
  while (auto gate = next_field(gates, ',')) {
    const std::string name(trim(*gate));
    if (!inactive.has(name)) reason.is_whole = false;
    if (const std::string text = inactive.reasons_of(name); !text.empty())
      reason.text += (reason.text.empty() ? "" : "; ") + text;
  }
  return reason;
}

InactivePlugins::Reason InactivePlugins::why(std::string_view plugin) const {
  std::string gates;
  {
    std::lock_guard lock(mutex_);
    const auto found = gates_.find(plugin);
    if (found == gates_.end()) return {};
    gates = found->second;
  }
  return why_of(gates, hub_.current()->node_slo);
}

}  // namespace koord::host
