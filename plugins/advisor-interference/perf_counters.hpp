// SPDX-License-Identifier: Apache-2.0
// PerfCounters: perf event counters of containers that run all the time. A container needs a descriptor for each event
// and CPU. If the descriptors do not suffice for all containers, containers that use little CPU lose their counters to
// other containers. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/node_roots.hpp"
#include "plugins/advisor-interference/cache_windows.hpp"
#include "plugins/shared/counters/cgroup_counters.hpp"
#include "plugins/shared/counters/event_set.hpp"
#include "plugins/shared/counters/rotation.hpp"

namespace koord::interference {

class PerfCounters final : public CounterSource {
 public:
  // At the end of a turn, a container that used less CPU loses its counters if others wait.
  static constexpr double kBusyCpus = 0.25;

  struct Limits {
    std::size_t descriptors = 8192;  // and at most a quarter of the process's limit
    double turn_seconds = 60;
  };

  // Opens no counters of containers yet. Fails if the node cannot count cycles and instructions; the error is for an
  // operator.
  static Result<std::unique_ptr<PerfCounters>> open(const NodeRoots& roots, const Limits& limits,
                                                    const performance::EventSettings& events = {});

  Result<std::vector<CounterTotals>> read(const std::vector<KnownContainer>& containers, double seconds) override;
  std::optional<std::size_t> llc_misses() const override { return events_.llc_misses; }

  std::size_t descriptors() const;
  // Returns why misses of the last-level cache are not counted; empty: they are counted.
  std::string why_no_llc_misses() const;

 private:
  struct Counted {
    performance::CgroupCounters counters;
    std::uint64_t enabled_ns = 0;          // CPU time since the counters were opened
    std::uint64_t enabled_ns_at_turn = 0;  // the same at the end of the last turn
    double seconds = 0;                    // time counted since the last turn
  };

  PerfCounters(std::string tree, std::string sys, performance::EventSet events, const Limits& limits)
      : tree_(std::move(tree)),
        sys_(std::move(sys)),
        events_(std::move(events)),
        budget_(limits.descriptors),
        turn_seconds_(limits.turn_seconds) {}

  Result<void> follow_cpus();
  std::vector<CounterTotals> read_all(double seconds);
  void make_way(double seconds);
  bool is_little_used(Counted& counted) const;
  void open_for(const std::vector<KnownContainer>& containers);
  Result<void> open_for(const KnownContainer& container);

  std::string tree_, sys_;
  performance::EventSet events_;
  performance::DescriptorBudget budget_;
  double turn_seconds_;
  std::vector<unsigned> cpus_;
  std::unordered_map<std::uint64_t, Counted> counted_;         // key: the container's handle
  std::unordered_map<std::uint64_t, std::uint64_t> made_way_;  // key: handle; value: the turn in which it lost its
                                                               // counters
  std::uint64_t turn_ = 1;
  double seconds_in_turn_ = 0;
  bool others_wait_ = false;
};

}  // namespace koord::interference
