// SPDX-License-Identifier: Apache-2.0
// The status of a NodeMetric with 250 pods and four windows, from a metric cache on disk with half an hour of samples,
// one per second and series. Compares the CPU time with the time of a loop that only adds and sorts the same numbers in
// vectors.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/base/manual_clock.hpp"
#include "core/report/direct_report.hpp"
#include "core/report/node_metric.hpp"
#include "core/store/store.hpp"
#include "test/bench/measure.hpp"

using namespace koord;
using namespace std::chrono_literals;

namespace {

constexpr int kPods = 250;
constexpr int kSeconds = 1830;
constexpr int kAveraged = 300;
constexpr double kTargetMilliseconds = 20;
constexpr double kTargetPercent = 0.2;

struct Node {
  std::string path = std::filesystem::temp_directory_path() / ("koord-bench-report-" + std::to_string(::getpid()));
  ManualClock clock;
  std::unique_ptr<store::Store> cache;
  state::Snapshot state;
  state::NodeMetricSpec spec;
  std::vector<std::vector<double>> columns;  // the same samples, by series

  Node() {
    std::filesystem::create_directory(path);
    store::Options options;
    options.path = path + "/metrics.db";
    cache = std::move(*store::Store::open(options, clock));
    spec.windows = {1min, 5min, 10min, 30min};
    define();
    fill();
  }
  ~Node() { std::filesystem::remove_all(path); }

  void begin(const std::string& metric, store::Labels labels, double resolution) {
    labels.emplace_back("node", "bench");
    if (!cache->begin_series(static_cast<std::uint32_t>(columns.size()), {metric, "", resolution, labels}))
      std::abort();
    columns.emplace_back();
  }
  void begin_usage(const std::string& level, const store::Labels& labels) {
    begin(level + "_cpu_usage", labels, 1e-4);
    begin(level + "_memory_usage", labels, 4096);
  }
  void define() {
    begin_usage("node", {});
    begin_usage("sys", {});
    for (int i = 0; i < kPods; ++i) {
      state::Pod pod;
      pod.uid = "6f3a1c2e-0000-4000-8000-" + std::to_string(100000000000 + i);
      pod.name = "web-" + std::to_string(i) + "-7d4b9c6f5-x2x9z";
      pod.namespace_ = "shop-" + std::to_string(i % 10);
      pod.priority_class = state::PriorityClass::prod;
      pod.koord_qos = state::KoordQos::ls;
      pod.phase = state::Phase::running;
      begin_usage("pod", {{"pod_uid", pod.uid}, {"pod_name", pod.name}, {"pod_namespace", pod.namespace_}});
      state.pods.push_back(std::move(pod));
    }
  }
  void fill() {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> cores(0, 2), pages(1000, 500000);
    std::vector<store::Sample> samples(columns.size());
    for (int second = 0; second < kSeconds; ++second) {
      clock.advance(1s);
      for (std::uint32_t i = 0; i < columns.size(); ++i) {
        const double value = i % 2 == 0 ? cores(random) : 4096 * static_cast<double>(static_cast<int>(pages(random)));
        samples[i] = {i, value};
        columns[i].push_back(value);
      }
      if (!cache->append(clock.now(), samples)) std::abort();
      if (second % 60 == 0) cache->flush();
    }
    cache->flush();
  }
  std::size_t report() {
    report::NodeMetricInputs inputs{*cache, state, spec};
    inputs.pods_confirmed = clock.now();
    inputs.now = clock.now();
    const report::NodeMetricReport report = report::make_node_metric(inputs);
    if (!report.refusal.empty() || report.status.pods.size() != kPods) std::abort();
    return to_json(report.status).size();
  }
  // Makes a report to koord-manager, with the whole cost of a changed report.
  std::size_t direct() {
    state::NodeMetricSpec of_manager = spec;
    of_manager.aggregate = 10s;
    report::NodeMetricInputs inputs{*cache, state, of_manager};
    inputs.pods_confirmed = clock.now();
    inputs.max_age = of_manager.aggregate;
    inputs.now = clock.now();
    const std::vector<verdict::RecordPtr> verdicts;
    report::DirectReport report{report::make_node_metric(inputs), {}};
    report.details = report::make_pod_details({*cache, state, verdicts, 30s, clock.now(), 0});
    if (!report.report.refusal.empty() || report.report.status.pods.size() != kPods) std::abort();
    return report::make_direct_body("bench", report, nullptr, clock.now()).text.size();
  }
  double least() const {
    double sum = 0;
    for (const std::vector<double>& column : columns)
      for (auto at = column.end() - kAveraged; at != column.end(); ++at) sum += *at;
    for (std::size_t series = 0; series < 4; ++series) {
      for (Duration window : spec.windows) {
        std::vector<double> values(columns[series].end() - window / 1s, columns[series].end());
        std::sort(values.begin(), values.end());
        sum += values[values.size() / 2];
      }
    }
    return sum;
  }
};

template <class Work>
double milliseconds_of(const Work& work) {
  std::vector<double> times;
  for (int i = 0; i < 25; ++i) {
    times.push_back(1000 * bench::cpu_seconds_of(work));
  }
  return bench::median(times);
}

}  // namespace

int main() {
  Node node;
  std::size_t bytes = 0;
  volatile double sum = 0;
  const double ours = milliseconds_of([&] { bytes = node.report(); });
  const double least = milliseconds_of([&] { sum = node.least(); });
  std::size_t packed = 0;
  const double direct = milliseconds_of([&] { packed = node.direct(); });
  std::printf(
      "NodeMetric, 250 pods, 4 windows                ours %.2f ms  adding and sorting alone %.2f ms  ratio %.1f  %zu bytes  target <= %.0f ms  %s\n",
      ours, least, ours / least, bytes, kTargetMilliseconds, ours <= kTargetMilliseconds ? "ok" : "MISSED");
  std::printf(
      "direct report, 250 pods, packed                ours %.2f ms  %.3f %% of a core every 5 s  %zu bytes  target <= %.1f %%  %s\n",
      direct, direct / 50, packed, kTargetPercent, direct / 50 <= kTargetPercent ? "ok" : "MISSED");
}
