// SPDX-License-Identifier: Apache-2.0
// IoAnalysis: the verdicts about block I/O for all containers of a node, from their windows. It stores the quiet
// latencies of each workload and of each device, and the standing verdict of each container. Pure. [one thread at a
// time]
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "core/analysis/histogram.hpp"
#include "core/analysis/io_rule.hpp"
#include "core/analysis/last_seen.hpp"
#include "core/analysis/latency_record.hpp"
#include "core/analysis/rules.hpp"
#include "core/analysis/verdicts.hpp"

namespace koord::analysis {

// A container in a window.
struct IoSubject {
  std::string workload;  // owner and container name; the same for all containers of a workload
  IoWindow window;
  std::shared_ptr<const Rules> rules = nullptr;  // rules of this workload; null: the rules of the node
};

// The latencies of requests that met no requests of others. Their median is the quiet level, so no quiet period is
// needed.
class IoBaseline {
 public:
  static constexpr Buckets kLatencies{0.000001, 100};  // seconds

  explicit IoBaseline(const IoRule& rule = {}) : mean_(rule), p99_(rule) {}

  void add(Time at, const IoStream& stream, const IoRule& rule);
  QuietLatency quiet() const;

  // Save and restore for restarts.
  void save(Time at, SavedLatency& saved) const;
  void restore(Time at, const SavedLatency& saved);

 private:
  struct Median {
    explicit Median(const IoRule& rule)
        : histogram(kLatencies, rule.quiet_half_life), fewest_windows(rule.quiet_windows) {}

    Histogram histogram;
    std::size_t windows = 0, fewest_windows;

    void add(double value, Time at);
    double value() const { return windows < fewest_windows ? 0 : histogram.percentile(0.5); }
    SavedMedian save(Time at) const;
    void restore(Time at, const SavedMedian& saved);
  };

  Median mean_, p99_;
};

class IoAnalysis {
 public:
  explicit IoAnalysis(Rules rules = {}) : rules_(rules), verdicts_(rules.confirmation) {}

  // Sets the rules from the next window on. Standing verdicts end. Quiet latencies are learned again if their settings
  // changed.
  std::vector<VerdictEvent> set_rules(const Rules& rules);

  // Adds the windows of all existing containers, which ended at this time. A missing container has ended.
  std::vector<VerdictEvent> add(Time at, const std::vector<IoSubject>& subjects);

  std::vector<Verdict> standing() const { return verdicts_.standing(); }
  // Returns the quiet latencies, to save them for restarts. Device names are empty.
  std::vector<SavedLatency> save(Time now) const;
  // Restores saved latencies. Call it before the first windows. Ignores workloads that were not seen for too long.
  void restore(const std::vector<SavedLatency>& saved, Time now);

  // Returns the device of the container's last finding; 0: none.
  std::uint32_t device_of(Subject subject) const;

 private:
  // Workload, device and direction. An empty workload means all workloads, and is sorted first.
  using Key = std::tuple<std::string, std::uint32_t, bool>;
  struct Known {
    IoBaseline baseline;
    Time seen{};
  };

  QuietLatency quiet_of(const std::string& workload, const IoStream& stream) const;
  void learn(Time at, const std::string& workload, const IoStream& stream, const IoRule& of_workload);

  Rules rules_;
  std::map<Key, Known> baselines_;
  std::map<Subject, std::uint32_t> devices_;
  Verdicts verdicts_;
};

}  // namespace koord::analysis
