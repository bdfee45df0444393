// SPDX-License-Identifier: Apache-2.0
#include "core/host/isolation_level.hpp"

namespace koord::host {

using config::IsolationLayer;

std::string IsolationLevel::text() const {
  std::string text;
  for (IsolationLayer layer : config::kIsolationLayers)
    if (has(layer)) text += (text.empty() ? "" : "+") + std::string(to_string(layer));
  return text.empty() ? "none" : text;
}

const IsolationLevel& isolation_in_process() {
  static const IsolationLevel level = [] {
    IsolationLevel none;
    for (IsolationLayer layer : config::kIsolationLayers) none.missing[layer] = "it runs in the agent's process";
    return none;
  }();
  return level;
}

Result<void> check_minimum_isolation(const IsolationLevel& level, const std::vector<IsolationLayer>& wanted) {
  for (IsolationLayer layer : wanted)
    if (!level.has(layer))
      return invalid("wanted the isolation layer '" + std::string(to_string(layer)) +
                     "' (plugins.minimumIsolation), which is missing: " + level.missing.at(layer));
  return {};
}

}  // namespace koord::host
