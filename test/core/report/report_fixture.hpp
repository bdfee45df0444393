// SPDX-License-Identifier: Apache-2.0
// A metric cache in memory with a fake clock, which tests fill by metric and labels, and the inputs of a report from
// it.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/manual_clock.hpp"
#include "core/report/node_metric.hpp"

namespace koord::test {

using namespace koord::report;
using namespace std::chrono_literals;

struct ReportFixture {
  ManualClock clock;
  std::unique_ptr<store::Store> cache = std::move(*store::Store::open({}, clock));
  state::Snapshot state;
  state::NodeMetricSpec spec;
  Prediction prediction;
  std::optional<Duration> pods_age = 0s;

  // A series with one sample per second from now on. The values repeat in turn.
  struct Signal {
    std::uint32_t index;
    std::vector<double> values;
  };
  std::vector<Signal> signals;
  std::uint32_t last_index = 0;
  std::size_t ticks = 0;

  std::uint32_t begin(const std::string& metric, const store::Labels& labels, std::vector<double> values) {
    const bool is_cpu = metric.ends_with("cpu_usage");
    REQUIRE(cache->begin_series(++last_index, {metric, "", is_cpu ? 1e-4 : 1.0, labels}));
    signals.push_back({last_index, std::move(values)});
    return last_index;
  }
  void end(std::uint32_t index) {
    std::erase_if(signals, [index](const Signal& signal) { return signal.index == index; });
    cache->end_series(index);
  }
  void usage(const std::string& level, const store::Labels& labels, std::vector<double> cores,
             std::vector<double> bytes) {
    begin(level + "_cpu_usage", labels, std::move(cores));
    begin(level + "_memory_usage", labels, std::move(bytes));
  }
  // Lets this time pass. The last sample is at the clock's time.
  void run(Duration time) {
    for (Duration passed = 0s; passed < time; passed += 1s, ++ticks) {
      clock.advance(1s);
      std::vector<store::Sample> samples;
      for (const Signal& signal : signals)
        samples.push_back({signal.index, signal.values[ticks % signal.values.size()]});
      REQUIRE(cache->append(clock.now(), samples));
    }
  }
  void pod(const std::string& uid, const std::string& name_space, const std::string& name, std::vector<double> cores,
           std::vector<double> bytes, state::PriorityClass priority = state::PriorityClass::prod,
           state::KoordQos qos = state::KoordQos::ls) {
    state::Pod pod;
    pod.uid = uid;
    pod.namespace_ = name_space;
    pod.name = name;
    pod.priority_class = priority;
    pod.koord_qos = qos;
    pod.phase = state::Phase::running;
    state.pods.push_back(pod);
    usage("pod", {{"pod_uid", uid}, {"pod_name", name}}, std::move(cores), std::move(bytes));
  }
  NodeMetricReport report() {
    NodeMetricInputs inputs{*cache, state, spec};
    inputs.prediction = prediction;
    if (pods_age) inputs.pods_confirmed = clock.now() - *pods_age;
    inputs.now = clock.now();
    inputs.wall_ns = 1'790'000'000'999'999'999;
    return make_node_metric(inputs);
  }
};

}  // namespace koord::test
