// SPDX-License-Identifier: Apache-2.0
// PodDetails: the parts of a pod's report that only metrics.koordetector.sh has: the time that the pod lost to a lack
// of resources, and the agent's own standing verdicts of interference. Unknown values are omitted. Values in, values
// out. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/state/snapshot.hpp"
#include "core/store/store.hpp"
#include "core/verdict/store.hpp"

namespace koord::report {

// Seconds of lost time per second.
struct PodPressure {
  std::optional<double> scheduling_delay;  // sum over all threads
  std::optional<double> memory_stall, io_stall;

  bool is_known() const { return scheduling_delay || memory_stall || io_stall; }
  bool operator==(const PodPressure&) const = default;
};

struct PodSuspect {
  std::string kind, name;
  std::optional<double> share;

  bool operator==(const PodSuspect&) const = default;
};

struct PodInterference {
  std::string container;  // empty: the whole pod
  std::string resource, kind, method;
  std::optional<double> severity;  // statistic divided by its threshold
  std::int64_t since_seconds = 0;  // wall clock, since the Unix epoch
  std::vector<PodSuspect> suspects;

  bool operator==(const PodInterference&) const = default;
};

struct PodDetails {
  PodPressure pressure;
  std::vector<PodInterference> interference;

  bool operator==(const PodDetails&) const = default;
};

// By namespace and name.
using DetailsOfPods = std::map<std::pair<std::string, std::string>, PodDetails>;

// Limits per pod; further verdicts, and further suspects of a verdict, are omitted.
inline constexpr std::size_t kMaxVerdictsOfPod = 16;
inline constexpr std::size_t kMaxSuspectsOfVerdict = 5;

struct DetailInputs {
  const store::Store& cache;
  const state::Snapshot& state;
  const std::vector<verdict::RecordPtr>& verdicts;  // standing verdicts, sorted by id
  Duration window = std::chrono::seconds(30);       // window of the pressure
  Time now;
  std::int64_t wall_ns = 0;
};

DetailsOfPods make_pod_details(const DetailInputs& inputs);

}  // namespace koord::report
