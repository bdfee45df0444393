// SPDX-License-Identifier: Apache-2.0
// MirrorPlan: decides which NodeMetrics of slo.koordinator.sh are written next from the reports of agents. A node is
// written at most once per gap. Changed nodes are written first, then the nodes with the oldest write. The total rate
// is limited. It also builds the status to write. No I/O and no clock. [one thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::manager {

// Returns a status of metrics.koordetector.sh without the fields that Koordinator's definition lacks: pressure and
// interference of pods, the period of reports, and conditions.
Result<std::string> mirrored_status(std::string_view status);

// Returns a hash of the content. Reports that differ only in their time have the same hash.
std::uint64_t content_of(std::string_view status);

class MirrorPlan {
 public:
  struct Options {
    Duration gap = std::chrono::minutes(1);  // minimum time between two writes of a node, even after a failed write
    double per_second = 100;
    std::size_t open = 16;  // limit for writes in flight
  };

  MirrorPlan() : MirrorPlan(Options()) {}
  explicit MirrorPlan(const Options& options) : options_(options) {}

  // Called when an agent has reported.
  void report(const std::string& node, std::uint64_t content);
  void forget(std::string_view node);
  // Forgets all nodes. Called when a different leader writes from now on.
  void clear();

  // Returns the nodes to write now. Call done() for each of them.
  std::vector<std::string> next(Time now);
  void done(std::string_view node, bool was_written, Time now);

  std::size_t nodes() const { return nodes_.size(); }

 private:
  struct Node {
    std::uint64_t content = 0;             // content_of() the newest report
    std::optional<std::uint64_t> written;  // content_of() the last write
    bool has_new = false;                  // a report arrived since the last write
    bool is_open = false;
    std::uint64_t sent = 0;  // content_of() the write in flight
    std::optional<Time> tried;
  };
  std::size_t take_tokens(Time now);

  Options options_;
  std::map<std::string, Node, std::less<>> nodes_;
  std::size_t open_ = 0;
  double tokens_ = 0;
  std::optional<Time> filled_;
};

}  // namespace koord::manager
