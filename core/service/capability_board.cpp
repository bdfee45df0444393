// SPDX-License-Identifier: Apache-2.0
#include "core/service/capability_board.hpp"

namespace koord::service {

std::string_view name_of(CapabilityState state) {
  switch (state) {
    case CapabilityState::supported:
      return "supported";
    case CapabilityState::absent:
      return "absent";
    case CapabilityState::broken:
      return "broken";
  }
  return "unknown";
}

void CapabilityBoard::set(std::vector<Capability> of_host) {
  std::lock_guard lock(mutex_);
  for (Capability& capability : of_host) {
    capability.plugin.clear();
    Key key{"", capability.name};
    capabilities_.insert_or_assign(std::move(key), std::move(capability));
  }
}

Result<void> CapabilityBoard::report(Capability of_plugin) {
  std::lock_guard lock(mutex_);
  Key key{of_plugin.plugin, of_plugin.name};
  if (!capabilities_.contains(key)) {
    auto first = capabilities_.lower_bound({of_plugin.plugin, ""});
    std::size_t names = 0;
    while (first != capabilities_.end() && first->first.first == of_plugin.plugin) ++names, ++first;
    if (names >= kMaxReportsPerPlugin)
      return invalid("'" + of_plugin.name + "' would be one capability more than the " +
                     std::to_string(kMaxReportsPerPlugin) + " that a plugin may report");
  }
  capabilities_.insert_or_assign(std::move(key), std::move(of_plugin));
  return {};
}

void CapabilityBoard::forget(std::string_view plugin) {
  std::lock_guard lock(mutex_);
  std::erase_if(capabilities_, [&](const auto& entry) { return !plugin.empty() && entry.first.first == plugin; });
}

std::optional<Capability> CapabilityBoard::find(std::string_view name, std::string_view asking) const {
  std::lock_guard lock(mutex_);
  for (std::string_view plugin : {std::string_view(), asking}) {
    auto found = capabilities_.find({std::string(plugin), std::string(name)});
    if (found != capabilities_.end()) return found->second;
  }
  for (const auto& [key, capability] : capabilities_) {
    if (key.second == name) return capability;
  }
  return std::nullopt;
}

std::vector<Capability> CapabilityBoard::list() const {
  std::lock_guard lock(mutex_);
  std::vector<Capability> all;
  for (const auto& [key, capability] : capabilities_) all.push_back(capability);
  return all;
}

}  // namespace koord::service
