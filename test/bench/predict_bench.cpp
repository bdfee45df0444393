// SPDX-License-Identifier: Apache-2.0
// One whole training of a node with 250 pods with one sample per second: the query of the metric cache, learning,
// percentiles; also the resources that could be lent, and a checkpoint. Compared with the minimum work of a training:
// the 90th percentile of each pod's minute in an array, and one addition to a bucket. Also measures the models' memory.
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

#include "core/base/manual_clock.hpp"
#include "core/predict/checkpoint.hpp"
#include "core/predict/observation.hpp"
#include "core/predict/predictors.hpp"
#include "core/predict/trainer.hpp"
#include "core/store/store.hpp"
#include "test/bench/measure.hpp"

using namespace koord;
using namespace koord::predict;
using namespace std::chrono_literals;

namespace {

constexpr int kPods = 250, kMinutes = 30, kSeconds = 60;

void require(bool well, const char* what) {
  if (well) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(1);
}

// Pods with a usage that varies about tenfold.
struct Node {
  ManualClock clock;
  std::unique_ptr<store::Store> store = *store::Store::open({}, clock);
  state::Snapshot state;
  std::mt19937 random{1};
  std::lognormal_distribution<double> noise{0, 0.5};
  std::vector<store::Sample> samples;

  Node() {
    state.versions.pods = 1;
    state.node.allocatable = {{"cpu", 96'000}, {"memory", std::int64_t{512} << 30}};
    add(kNodeCpu, kNodeMemory, {});
    for (int i = 0; i < kPods; ++i) {
      state::Pod pod;
      pod.uid = "0d4f5b7a-8c1f-4b1e-9a53-" + std::to_string(100'000'000'000 + i);
      pod.phase = state::Phase::running;
      pod.priority_class = i % 3 == 0 ? state::PriorityClass::batch : state::PriorityClass::prod;
      pod.resources = {{"cpu", 1000, -1}, {"memory", 4ll << 30, -1}};
      add(kPodCpu, kPodMemory,
          {{"pod_uid", pod.uid}, {"pod_name", "web-" + std::to_string(i)}, {"pod_namespace", "shop"}});
      state.pods.push_back(std::move(pod));
    }
  }
  void add(const char* cpu, const char* memory, const store::Labels& labels) {
    for (const auto& [metric, resolution] : {std::pair{cpu, 1e-4}, std::pair{memory, 4096.0}}) {
      const auto index = static_cast<std::uint32_t>(samples.size());
      require(store->begin_series(index, {metric, "", resolution, labels}).has_value(), "begin_series");
      samples.push_back({index, 0});
    }
  }
  void pass_a_minute() {
    for (int second = 0; second < kSeconds; ++second) {
      clock.advance(1s);
      for (store::Sample& sample : samples) sample.value = noise(random) * (sample.index % 2 == 0 ? 0.3 : 3e8);
      require(store->append(clock.now(), samples).has_value(), "append");
    }
  }
};

// Measures the minimum work: an array of samples, its 90th percentile, a bucket.
double bare_seconds(Node& node) {
  std::vector<std::array<double, kSeconds>> minutes(2 * (kPods + 1));
  for (auto& minute : minutes)
    for (double& value : minute) value = node.noise(node.random);
  std::vector<std::array<double, 205>> buckets(minutes.size());
  return bench::cpu_seconds_of([&] {
    for (std::size_t i = 0; i < minutes.size(); ++i) {
      std::nth_element(minutes[i].begin(), minutes[i].begin() + 53, minutes[i].end());
      buckets[i][std::min<std::size_t>(static_cast<std::size_t>(std::log(minutes[i][53] * 2 + 1) / std::log(1.05)),
                                       204)] += 1;
    }
  });
}

std::size_t allocated() { return ::mallinfo2().uordblks; }

}  // namespace

int main() {
  Node node;
  Trainer trainer({{12h, 24h}, 30min, 10});
  Forecast forecast;
  ProdPrediction prod;
  std::vector<double> trainings, bare, predictions;
  for (int minute = 0; minute < kMinutes; ++minute) {
    node.pass_a_minute();
    trainings.push_back(1e3 * bench::cpu_seconds_of([&] {
                          trainer.train(observe(node.state, *node.store, node.clock.now(), 1min), node.clock.now());
                          forecast = trainer.forecast(node.clock.now());
                        }));
    bare.push_back(1e3 * bare_seconds(node));
    predictions.push_back(1e3 * bench::cpu_seconds_of([&] {
                            prod = *predict_prod(Predictor::minimum, forecast, node.state, {0s, 10}, node.clock.now());
                          }));
  }
  require(prod.pods > 0 && prod.unlearnt == 0, "predicting");
  bench::print_ratio("training, 250 pods", bench::median(trainings), "percentile and bucket", bench::median(bare), "ms",
                     10);
  bench::print_ratio("resources that could be lent, 250 pods", bench::median(predictions), "training",
                     bench::median(trainings), "ms", 0.2);

  const Checkpoint checkpoint = trainer.checkpoint(node.clock.now());
  std::string text;
  const double written = 1e3 * bench::cpu_seconds_of([&] { text = write_checkpoint(checkpoint); });
  const std::size_t before = allocated();
  ReadCheckpoint read;
  const double taken = 1e3 * bench::cpu_seconds_of([&] { read = read_checkpoint(text, {12h, 24h}); });
  const double bytes = static_cast<double>(allocated() - before);
  require(read.problems.empty() && read.checkpoint.models.size() == trainer.models(), "reading the checkpoint");
  bench::print_ratio("reading a checkpoint", taken, "writing it", written, "ms", 3);
  const auto models = static_cast<double>(trainer.models());
  bench::print_ratio("memory of a model", bytes / models / 1024, "all buckets of both", (158 + 205) * 8 / 1024.0, "KiB",
                     1);
  std::printf("%-44s %.0f models, %.2f MiB in memory, %.2f MiB on disk\n", "in all", models, bytes / (1 << 20),
              static_cast<double>(text.size()) / (1 << 20));
}
