// SPDX-License-Identifier: Apache-2.0
#include "core/host/isolation.hpp"

#include <string>
#include <vector>

#include "core/base/parse.hpp"

namespace koord::host {

Result<bool> runs_in_child(const load::Manifest& manifest, load::Origin origin, config::Isolation wanted) {
  const bool brings_runtime = manifest.runtime != load::Runtime::native;
  if (brings_runtime && wanted == config::Isolation::in_process)
    return invalid("isolation: inprocess, but runtime=" + std::string(to_string(manifest.runtime)) +
                   " needs a process of its own: expected auto or process");
  if (wanted == config::Isolation::automatic) return brings_runtime || origin == load::Origin::third_party;
  return wanted == config::Isolation::process;
}

Result<void> check_in_agent(load::Origin origin, config::Isolation wanted,
                            const std::vector<config::IsolationLayer>& minimum) {
  if (origin != load::Origin::third_party || minimum.empty()) return {};
  std::vector<std::string> layers;
  for (config::IsolationLayer layer : minimum) layers.emplace_back(to_string(layer));
  const std::string none = "has none of plugins.minimumIsolation [" + join(layers, ", ") + "]";
  if (wanted == config::Isolation::in_process) return invalid("isolation: inprocess " + none);
  return invalid("the agent's process, where the file is mapped, " + none +
                 "; koordctl plugin reload maps it in a process of its own");
}

}  // namespace koord::host
