// SPDX-License-Identifier: Apache-2.0
// CapabilityBoard: abilities of this node, from the host's probes at start and from plugins' reports about themselves.
// One place for operators, the data API and koord.capabilities/1. [any thread]
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace koord::service {

// The values are those of the plugin ABI.
enum class CapabilityState { supported = 1, absent = 2, broken = 3 };

std::string_view name_of(CapabilityState state);

struct Capability {
  std::string name;  // "bpf", "psi", …
  CapabilityState state = CapabilityState::absent;
  std::string detail;  // one phrase: the finding, or why not
  std::string plugin;  // the source; empty: the host itself

  bool operator==(const Capability&) const = default;
};

class CapabilityBoard {
 public:
  static constexpr std::size_t kMaxReportsPerPlugin = 64;

  // Replaces the host's previous reports under these names.
  void set(std::vector<Capability> of_host);
  // Replaces this plugin's previous report under this name; refused beyond kMaxReportsPerPlugin names.
  Result<void> report(Capability of_plugin);
  // Removes the reports of a plugin that has ended.
  void forget(std::string_view plugin);

  // The host's own of this name; else that of `asking`; else that of any plugin, the first by plugin id.
  std::optional<Capability> find(std::string_view name, std::string_view asking = {}) const;
  // The host's first, each group by name.
  std::vector<Capability> list() const;

 private:
  using Key = std::pair<std::string, std::string>;  // plugin, name

  mutable std::mutex mutex_;
  std::map<Key, Capability> capabilities_;
};

}  // namespace koord::service
