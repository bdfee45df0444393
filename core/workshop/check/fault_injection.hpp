// SPDX-License-Identifier: Apache-2.0
// Faults that a host injects into a plugin in one trial, all of them within the contract of plugin.h, and the
// violations that it has seen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "koordetector/plugin.h"

namespace koord::check {

enum class Tables : std::uint8_t {
  whole,
  cut,    // of a host that has the service in name only: nothing behind the header can be read
  grown,  // of a newer host
};

enum class Lending : std::uint8_t {
  plainly,
  read_only,   // snapshots and arguments stand in memory that cannot be written
  until_back,  // and cannot be read after they are released
  widely,      // growable records are longer than plugin.h knows them, as those of a newer host
};

struct FaultInjection {
  std::set<std::string, std::less<>> missing;  // services that are not offered
  std::optional<koord_status> answer;          // the answer of every service call that can fail
  bool needs_more = false;     // an answer is longer each time than the size reported before, up to a limit
  bool keeps_nothing = false;  // of samples and log lines, so that the host does not grow
  Tables tables = Tables::whole;
  Lending lending = Lending::plainly;
};

// [any thread]
class Violations {
 public:
  void add(std::string text) {
    std::lock_guard lock(mutex_);
    if (texts_.size() < kMost && std::find(texts_.begin(), texts_.end(), text) == texts_.end())
      texts_.push_back(std::move(text));
  }
  // The first; empty: none.
  std::string first() const {
    std::lock_guard lock(mutex_);
    return texts_.empty() ? "" : texts_.front();
  }

 private:
  static constexpr std::size_t kMost = 16;
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

struct Seen {
  Violations out_of_place;    // a call where the contract has none
  Violations after_destroy;   // through the host of an instance that is gone
  Violations other_instance;  // through the host of another instance than the one that was called
  Violations thrown;          // exceptions that left the plugin
  Violations not_a_status;
};

}  // namespace koord::check
