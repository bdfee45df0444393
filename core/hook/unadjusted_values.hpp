// SPDX-License-Identifier: Apache-2.0
// UnadjustedValues: what a runtime would have set for a container that hooks have adjusted, for a runtime that does not
// report the start of the container (koord-cri-proxy). Kept until the state shows the container with its cgroup. [any
// thread]
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/hook/creation.hpp"
#include "core/knob/originals.hpp"
#include "core/state/snapshot.hpp"

namespace koord::hook {

class UnadjustedValues {
 public:
  static constexpr std::size_t kMostContainers = 1024;            // the oldest are forgotten
  static constexpr Duration kPatience = std::chrono::minutes(5);  // a container that is not there by then was not made

  // Values of a container of this name that is about to be made in the pod.
  void remember(const state::Pod& pod, const std::string& container, std::vector<Unadjusted> values, Time time);

  // One container's knobs.
  using Adjusted = std::vector<knob::Adjusted>;
  // Returns the values of the containers that the state shows now, and forgets them.
  std::vector<Adjusted> take(const state::Snapshot& snapshot, Time time);

 private:
  using Key = std::pair<std::string, std::string>;  // uid of the pod, name of the container
  struct Waiting {
    std::vector<Unadjusted> values;
    std::string last_id;  // of the container that had the name before
    Time time{};
  };

  void forget_oldest();

  std::mutex mutex_;
  std::map<Key, Waiting> waiting_;
};

}  // namespace koord::hook
