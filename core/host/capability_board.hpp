// SPDX-License-Identifier: Apache-2.0
// CapabilityBoard: what this node can and cannot do, as the host probed it at start and as plugins report about
// themselves. One place for operators, the data API and koord.capabilities/1. [any thread]
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

namespace koord::host {

// The values are those of the plugin ABI.
enum class CapabilityState { supported = 1, absent = 2, broken = 3 };

std::string_view name_of(CapabilityState state);

struct Capability {
  std::string name;  // "bpf", "psi", …
  CapabilityState state = CapabilityState::absent;
  std::string detail;  // one phrase: what was found, or why not
  std::string plugin;  // who said so; empty: the host itself

  bool operator==(const Capability&) const = default;
};

class CapabilityBoard {
 public:
  static constexpr std::size_t kMaxReportsPerPlugin = 64;

  // Replaces what the host said before under these names.
  void set(std::vector<Capability> of_host);
  // Replaces what this plugin said before under this name; refused beyond kMaxReportsPerPlugin names.
  Result<void> report(Capability of_plugin);
  // The plugin is gone, and with it what it said.
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

}  // namespace koord::host
