// SPDX-License-Identifier: Apache-2.0
// DecisionLog: records of intents, evictions and changes of modes: plugin, cgroup, reason, values used, value before,
// result. A record is made when something changed, not each time that the same is proposed again. The newest are in
// memory; all that there is room for are on disk, once keep_in() was called. Bounded: the oldest go first. [any thread]
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/decision/decision.hpp"
#include "core/decision/decision_archive.hpp"

namespace koord::decision {

class DecisionLog {
 public:
  static constexpr std::size_t kMostRecords = 1000;
  // Limit of the reason and the inputs together; longer texts are cut.
  static constexpr std::size_t kMostText = 1024;

  // Keeps later decisions in an archive, too, and continues its numbers. To be called once, before the first add().
  void keep_in(DecisionArchive::Options options, const Clock& clock);

  void add(Decision decision);

  // Writes what waits for the disk.
  void flush();

  // Those in memory, the oldest first.
  std::vector<Decision> decisions() const;
  // From the disk; if that is unavailable, or not used, from those in memory.
  DecisionPage find(const DecisionQuery& query) const;
  // nullopt: they are kept in memory only, as it should be.
  std::optional<DecisionArchive::Status> archive() const;
  // How many there were since the start.
  std::map<Outcome, std::uint64_t> counts() const;

 private:
  mutable std::mutex mutex_;
  std::deque<Decision> decisions_;
  std::map<Outcome, std::uint64_t> counts_;
  std::uint64_t last_number_ = 0;
  std::unique_ptr<DecisionArchive> archive_;  // set once
};

}  // namespace koord::decision
