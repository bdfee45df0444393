// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/predict/trainer.hpp"

using namespace koord;
using namespace koord::predict;
using namespace std::chrono_literals;

namespace {

constexpr auto prod = state::PriorityClass::prod, mid = state::PriorityClass::mid;

const Time kBegin = Time(24h * 20'000);
constexpr TrainerOptions kOptions{{12h, 24h}, 30min, 10, 4};

Observation use_of_pods(std::initializer_list<const char*> uids, Usage usage = {1, 1e9}) {
  Observation observation;
  for (const char* uid : uids) observation.pods[uid] = {prod, usage};
  return observation;
}

const SubjectForecast* find(const Trainer& trainer, const Subject& subject, Time now) {
  static Forecast forecast;
  forecast = trainer.forecast(now);
  return forecast.find(subject, now);
}

}  // namespace

TEST_CASE("each training adds one sample to each subject with known usage") {
  Trainer trainer(kOptions);
  Observation observation = use_of_pods({"a"});
  observation.node = {3, 4e9};
  observation.classes[prod] = {1, 1e9};
  trainer.train(observation, kBegin);
  trainer.train(observation, kBegin + 1min);
  const SubjectForecast* pod = find(trainer, pod_subject("a"), kBegin + 1min);
  REQUIRE(pod);
  CHECK(pod->samples == 2);
  CHECK(pod->first == kBegin);
  CHECK(pod->last == kBegin + 1min);
  CHECK(pod->actual == Usage{1, 1e9});
  CHECK(pod->percentiles.p95.cpu_milli == 1035);  // the end of the bucket, rounded down to a milli-core
  CHECK(find(trainer, node_subject(), kBegin + 1min));
  CHECK(find(trainer, class_subject(prod), kBegin + 1min));
  CHECK_FALSE(find(trainer, system_subject(), kBegin + 1min));
}

TEST_CASE("a subject without samples for as long as the expiry is forgotten") {
  Trainer trainer(kOptions);
  trainer.train(use_of_pods({"gone", "stays"}), kBegin);
  trainer.train(use_of_pods({"stays"}), kBegin + 30min);
  CHECK(find(trainer, pod_subject("gone"), kBegin + 30min));
  CHECK_FALSE(find(trainer, pod_subject("gone"), kBegin + 31min));  // even without a later training
  trainer.train(use_of_pods({"stays"}), kBegin + 31min);
  CHECK(trainer.models() == 1);
}

TEST_CASE("beyond as many pods as there is room for nothing is learnt, until one is forgotten") {
  Trainer trainer(kOptions);
  trainer.train(use_of_pods({"a", "b", "c", "d", "e", "f"}), kBegin);
  CHECK(trainer.models() == 4);
  CHECK(trainer.refused() == 2);
  trainer.train(use_of_pods({"f"}), kBegin + 31min);
  trainer.train(use_of_pods({"f"}), kBegin + 32min);
  CHECK(trainer.refused() == 0);
  CHECK(find(trainer, pod_subject("f"), kBegin + 32min));
}

TEST_CASE("a restart changes nothing that was learnt") {
  Trainer before(kOptions), after(kOptions);
  for (int i = 0; i < 200; ++i) before.train(use_of_pods({"a"}, {0.1 * (i % 17), 1e8 * (i % 5)}), kBegin + i * 1min);
  const Time now = kBegin + 200min;
  after.restore(before.checkpoint(now), now);
  CHECK(find(after, pod_subject("a"), now)->percentiles ==
        Percentiles(before.forecast(now).subjects.at(pod_subject("a")).percentiles));
  CHECK(find(after, pod_subject("a"), now)->first == kBegin);
  CHECK(find(after, pod_subject("a"), now)->samples == 200);
}

TEST_CASE("after a long stop a known pod goes on, and one that is gone expires") {
  Trainer before(kOptions), after(kOptions);
  before.train(use_of_pods({"known", "gone"}), kBegin);
  const Time back = kBegin + 72h;
  after.restore(before.checkpoint(kBegin), back);
  CHECK(find(after, pod_subject("known"), back));
  after.train(use_of_pods({"known"}), back + 1min);
  after.train(use_of_pods({"known"}), back + 31min);
  CHECK(find(after, pod_subject("known"), back + 31min)->samples == 3);
  CHECK_FALSE(find(after, pod_subject("gone"), back + 31min));
}

TEST_CASE("a checkpoint of a clock that was ahead counts as saved now") {
  Trainer before(kOptions), after(kOptions);
  before.train(use_of_pods({"a"}), kBegin + 1000h - 1h);
  before.train(use_of_pods({"a"}), kBegin + 1000h);
  after.restore(before.checkpoint(kBegin + 1000h), kBegin);
  const SubjectForecast* known = find(after, pod_subject("a"), kBegin);
  REQUIRE(known);
  CHECK(known->first == kBegin - 1h);
  CHECK(known->last == kBegin);
  after.train(use_of_pods({"a"}, {8, 8e9}), kBegin + 1min);
  // The new sample has the weight of the newest old sample, not a weight of almost 0.
  CHECK(find(after, pod_subject("a"), kBegin + 1min)->percentiles.p90.cpu_milli > 8000);
}

TEST_CASE("a prediction is judged an hour later and the judgement outlives a restart") {
  Trainer trainer(kOptions);
  Observation observation = use_of_pods({"a", "b"});
  observation.node = {3, 4e9};
  observation.classes = {{prod, {2, 2e9}}, {mid, {0, 0}}};
  Time now = kBegin;
  for (; now < kBegin + 3h + 5min; now += 1min) trainer.train(observation, now);
  observation.node = {30, 4e9};
  trainer.train(observation, now);
  for (int restarted = 0; restarted < 2; ++restarted) {
    const auto scores = trainer.forecast(now).scores;
    CHECK(scores.size() == 3);  // without classes that use nothing
    CHECK(scores.at("class/koord-prod").cpu_coverage == 1.0);
    CHECK(scores.at("class/koord-prod").samples == 59 * 2 + 5);
    // 2 cores are in the bucket that ends at 0.025 * (1.05^33 - 1) / 0.05 = 2.0016. With the margin that is 2201
    // milli-cores.
    CHECK(scores.at("class/koord-prod").cpu_ratio == doctest::Approx(2.201 / 2));
    CHECK(scores.at("node").cpu_coverage == doctest::Approx(1 - 1.0 / (59 * 2 + 5)));
    CHECK(scores.at("node").memory_coverage == 1.0);
    CHECK(scores.contains(kPodsScore));
    Trainer next(kOptions);
    next.restore(trainer.checkpoint(now), now);
    CHECK(next.forecast(now).scores == scores);
  }
}
