// SPDX-License-Identifier: Apache-2.0
#include "core/host/isolation_level.hpp"

#include <linux/capability.h>

namespace koord::host {

using config::IsolationLayer;

std::string IsolationLevel::text() const {
  std::string text;
  for (IsolationLayer layer : config::kIsolationLayers)
    if (has(layer)) text += (text.empty() ? "" : "+") + std::string(to_string(layer));
  if (text.empty()) text = "none";
  if (const CapabilityMask root = root_capabilities(capabilities); root != 0) text += " +" + format_capabilities(root);
  return text;
}

CapabilityMask root_capabilities(CapabilityMask capabilities) {
  constexpr unsigned kRoot[] = {CAP_CHOWN,     CAP_DAC_OVERRIDE, CAP_FOWNER,    CAP_SETGID,
                                CAP_SETUID,    CAP_SYS_MODULE,   CAP_SYS_RAWIO, CAP_SYS_PTRACE,
                                CAP_SYS_ADMIN, CAP_SYS_BOOT,     CAP_MKNOD,     CAP_SETFCAP};
  CapabilityMask root = 0;
  for (unsigned capability : kRoot) root |= capabilities & CapabilityMask{1} << capability;
  return root;
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
      return invalid("expected the isolation layer '" + std::string(to_string(layer)) +
                     "' (plugins.minimumIsolation), which is missing: " + level.missing.at(layer));
  return {};
}

}  // namespace koord::host
