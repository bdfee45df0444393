// SPDX-License-Identifier: Apache-2.0
// Creations: remembers what hooks have changed in containers at their creation, for each way by which a runtime asks.
// The values that a container would have had without hooks go to the journal of original values as soon as it exists,
// so that they come back when the hook is switched off. Each record is a file, too: the next agent goes on with it
// after a kill.
//
// A record ends with its container. One of a container that the state does not show for kPatience ends, and so does the
// oldest if there are more than kMost. [any thread]
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/hook/creation_file.hpp"
#include "core/knob/originals.hpp"
#include "core/state/snapshot.hpp"

namespace koord::hook {

class Creations {
 public:
  static constexpr std::size_t kMost = 4096;
  static constexpr Duration kPatience = std::chrono::minutes(10);
  // Values that cannot be held for this time are given up.
  static constexpr Duration kMostHoldTime = std::chrono::minutes(2);

  // Puts values into the journal; fails while the cgroup does not exist (Governor::hold).
  using Hold = std::function<Result<void>(std::span<const knob::Adjusted> values)>;

  // Reads the files that a previous agent has left. `folder`: empty: no files.
  Creations(std::string folder, const Clock& clock, Hold hold);

  // Before the runtime gets the answer; if that has no changes, too: the container of this name is another one now.
  // Returns an error if the record cannot be written: it is kept in memory then.
  Result<void> remember(CreationRecord record);
  // The runtime did not take the answer.
  void forget(std::string_view container_id);
  // The cgroup of the container has the changed values now, and its program does not run yet: the next update() holds
  // the values before. Does not wait.
  void begin(std::string_view container_id);
  // Holds the values of containers that have begun, or that the state shows, and ends records.
  void update(const state::Snapshot& snapshot);

  // Whether the container got this field at its creation.
  bool has_field(const state::Pod& pod, const state::Container& container, std::string_view field) const;
  // Values that are not in the journal yet.
  bool has_pending() const;
  std::size_t size() const;

 private:
  using Key = std::pair<std::string, std::string>;  // uid of the pod, name of the container
  struct Entry {
    CreationRecord record;
    Time seen = {};                   // in the state, last
    bool is_shown = false;            // by the state; of a previous agent: it is not about to be made any more
    std::optional<Time> failed = {};  // to be held, first
  };

  void load();
  void hold(const std::vector<Key>& keys);
  void end_hold(const Key& key, const std::string& cgroup_dir, const Result<void>& held);
  void refresh_entries(const state::Snapshot& snapshot);
  Result<void> write(const CreationRecord& record) const;
  void remove(std::map<Key, Entry>::iterator entry);
  void make_room();

  const std::string folder_;
  const Clock& clock_;
  const Hold hold_;
  mutable std::mutex mutex_;  // of what follows
  std::map<Key, Entry> entries_;
};

// The runtime's id of a container of the state, which is "containerd://ID" there.
std::string_view bare_id(std::string_view id);

}  // namespace koord::hook
