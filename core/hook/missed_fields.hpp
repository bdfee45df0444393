// SPDX-License-Identifier: Apache-2.0
// MissedFields: containers that run without fields of a hook's answer which have an effect only at a creation: the hook
// was late, in shadow or not there, or the runtime did not ask. Each is reported once. [one thread]
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/hook/creations.hpp"
#include "core/state/snapshot.hpp"

namespace koord::hook {

class MissedFields {
 public:
  struct Missed {
    const std::string& plugin;
    const state::Pod& pod;
    const state::Container& container;
    const std::vector<std::string>& fields;
  };
  struct Parts {
    const Creations& creations;                                  // outlives it
    std::function<bool(const std::string& plugin)> is_enforced;  // the mode of its hooks
    std::function<void(const Missed& missed)> report;            // must not call back
    std::string own_uid;                                         // of the agent's pod; empty: unknown
  };
  explicit MissedFields(Parts parts) : parts_(std::move(parts)) {}

  // A round over all answers: check() for each, then end(). `fields`: as creation_fields() has them.
  void check(const std::string& plugin, const state::Pod& pod, const state::Container& container,
             const std::vector<std::string>& fields);
  // Returns the number of such containers, by plugin; 0 for those that had some in the round before.
  std::map<std::string, std::size_t> end();

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // plugin, handle of the container
  using Found = std::map<Key, std::vector<std::string>>;

  const Parts parts_;
  Found before_, now_;
};

}  // namespace koord::hook
