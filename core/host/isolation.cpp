// SPDX-License-Identifier: Apache-2.0
#include "core/host/isolation.hpp"

#include <string>

namespace koord::host {

Result<bool> lives_in_child(const Manifest& manifest, Origin origin, config::Isolation wanted) {
  const bool brings_runtime = manifest.runtime != Runtime::native;
  if (brings_runtime && wanted == config::Isolation::in_process)
    return invalid("isolation: inprocess, but runtime=" + std::string(to_string(manifest.runtime)) +
                   " needs a process of its own: wanted auto or process");
  if (wanted == config::Isolation::automatic) return brings_runtime || origin == Origin::third_party;
  return wanted == config::Isolation::process;
}

}  // namespace koord::host
