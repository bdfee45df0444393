// SPDX-License-Identifier: Apache-2.0
// IoAnalysis: the verdicts about block I/O of all containers of a node, from their windows. Keeps the quiet latencies
// of each workload and of each device, and the standing verdict of each container. Pure. [one thread at a time]
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
  std::string workload;  // containers of the same workload have the same: owner and container name
  IoWindow window;
  std::shared_ptr<const Rules> rules = nullptr;  // of this workload; null: those of the node
};

// The latencies of requests that met no requests of others: their median is the quiet level. It needs no quiet times.
class IoBaseline {
 public:
  static constexpr Buckets kLatencies{0.000001, 100};  // seconds

  explicit IoBaseline(const IoRule& rule = {}) : mean_(rule), p99_(rule) {}

  void add(Time at, const IoStream& stream, const IoRule& rule);
  QuietLatency quiet() const;

  // To keep over restarts.
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

  // From the next window on. Standing verdicts end. Quiet latencies are learnt again if their own
  // settings are others.
  std::vector<VerdictEvent> set_rules(const Rules& rules);

  // The windows of all containers that exist, which ended at this time. A container that is missing has ended.
  std::vector<VerdictEvent> add(Time at, const std::vector<IoSubject>& subjects);

  std::vector<Verdict> standing() const { return verdicts_.standing(); }
  // Returns the quiet latencies, to keep over restarts; the devices have no names.
  std::vector<SavedLatency> save(Time now) const;
  // Before the first windows. Drops those that were not seen for too long.
  void restore(const std::vector<SavedLatency>& saved, Time now);

  // The device of the container's last finding; 0: none.
  std::uint32_t device_of(Subject subject) const;

 private:
  // Workload, empty for all (so that these are the first ones); device; direction.
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
