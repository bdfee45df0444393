// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>

#include "core/predict/predictors.hpp"

using namespace koord;
using namespace koord::predict;
using namespace std::chrono_literals;

namespace {

constexpr auto prod = state::PriorityClass::prod, mid = state::PriorityClass::mid, batch = state::PriorityClass::batch,
               none = state::PriorityClass::none;

const Time kNow = Time(24h * 20'000);
constexpr PredictorOptions kOptions{24h, 10};

struct Node {
  state::Snapshot state;
  Forecast forecast;

  Node() {
    state.versions.pods = 1;
    state.node.allocatable = {{"cpu", 10'000}, {"memory", 10'000}};
    learn(system_subject(), {1000, 1000});
    learn(class_subject(prod), {0, 0});
    learn(class_subject(none), {0, 0});
  }
  // Sets a subject's peaks without the margin.
  void learn(const Subject& subject, Amounts peak, Duration age = 48h) {
    Percentiles percentiles;
    percentiles.p95.cpu_milli = peak.cpu_milli;
    percentiles.p98.memory_bytes = peak.memory_bytes;
    forecast.subjects[subject] = {kNow - age, kNow, 100, kNow + 30min, {}, percentiles};
  }
  state::Pod& add_pod(const std::string& uid, Amounts request, state::PriorityClass klass = prod) {
    state::Pod pod;
    pod.uid = uid;
    pod.phase = state::Phase::running;
    pod.priority_class = klass;
    pod.resources = {{"cpu", request.cpu_milli, -1}, {"memory", request.memory_bytes, -1}};
    state.pods.push_back(pod);
    return state.pods.back();
  }
  Result<ProdPrediction> predict(Predictor predictor, PredictorOptions options = kOptions) const {
    return predict_prod(predictor, forecast, state, options, kNow);
  }
};

}  // namespace

TEST_CASE("a peak is p95 of CPU and p98 of memory with the margin, cut to whole ones") {
  Percentiles percentiles;
  percentiles.p95 = {115, 1};
  percentiles.p98 = {1, 999};
  CHECK(peak_of(percentiles, 10) == Amounts{126, 1098});
  CHECK(peak_of(percentiles, 0) == Amounts{115, 999});
}

TEST_CASE("pod: the request of each pod above its peak is reclaimable") {
  Node node;
  node.learn(pod_subject("a"), {1000, 2000});
  node.learn(pod_subject("b"), {1000, 1000});
  node.add_pod("a", {4000, 3000});
  node.add_pod("b", {1000, 3000});  // a CPU peak above the request does not reduce the amount of a
  auto prediction = node.predict(Predictor::pod);
  REQUIRE(prediction);
  CHECK(prediction->reclaimable == Amounts{2900, 800 + 1900});
  CHECK(prediction->peak == Amounts{2200, 3300});
  CHECK(prediction->pods == 2);
}

TEST_CASE("pod: no more is reclaimable than the node has beyond the peaks") {
  Node node;
  node.state.node.allocatable = {{"cpu", 3000}, {"memory", 500}};
  node.learn(pod_subject("a"), {1000, 1000});
  node.add_pod("a", {4000, 3000});
  CHECK(node.predict(Predictor::pod)->reclaimable == Amounts{1900, 0});
}

TEST_CASE("pod: a pod with a model younger than the cold start, or without one, counts with its request as peak") {
  Node node;
  node.learn(pod_subject("cold"), {1000, 1000}, 23h);
  node.add_pod("cold", {4000, 3000});
  node.add_pod("unlearnt", {200, 300});
  auto prediction = node.predict(Predictor::pod);
  REQUIRE(prediction);
  CHECK(prediction->reclaimable == Amounts{0, 0});
  CHECK(prediction->peak == Amounts{4200, 3300});
  CHECK(prediction->cold == 1);
  CHECK(prediction->unlearnt == 1);
  CHECK(node.predict(Predictor::pod, {23h, 10})->reclaimable == Amounts{2900, 1900});
}

TEST_CASE("a model that was not trained again until its expiry is not used") {
  Node node;
  node.learn(pod_subject("a"), {1000, 1000});
  node.add_pod("a", {4000, 3000});
  node.forecast.subjects.at(pod_subject("a")).expires = kNow - 1ns;
  CHECK(node.predict(Predictor::pod)->unlearnt == 1);
  node.forecast.subjects.at(class_subject(prod)).expires = kNow - 1ns;
  CHECK(node.predict(Predictor::priority).error().message() == "nothing was learnt of class/koord-prod for too long");
}

TEST_CASE("only pods of production that go on are counted, whatever their age") {
  for (Predictor predictor : kPredictors) {
    Node node;
    for (const char* uid : {"mid", "batch", "ended", "failed", "leaving", "classless"})
      node.learn(pod_subject(uid), {100, 100});
    node.add_pod("mid", {4000, 3000}, mid);
    node.add_pod("batch", {4000, 3000}, batch);
    node.add_pod("ended", {4000, 3000}).phase = state::Phase::succeeded;
    node.add_pod("failed", {4000, 3000}).phase = state::Phase::failed;
    node.add_pod("leaving", {4000, 3000}).deleting = true;
    node.add_pod("classless", {2000, 2000}, none);
    CAPTURE(name_of(predictor));
    CHECK(node.predict(predictor)->pods == 1);
    CHECK(node.predict(predictor)->reclaimable.cpu_milli <= 1890);
  }
}

TEST_CASE("priority: the requests of production above the peaks of system and production are reclaimable") {
  Node node;
  node.learn(class_subject(prod), {2000, 1000});
  node.learn(class_subject(none), {100, 200});
  node.learn(pod_subject("a"), {1, 1}, 1min);  // without a cold start
  node.add_pod("a", {6000, 4000});
  auto prediction = node.predict(Predictor::priority);
  REQUIRE(prediction);
  CHECK(prediction->peak == Amounts{1100 + 2200 + 110, 1100 + 1100 + 220});
  CHECK(prediction->reclaimable == Amounts{6000 - 3410, 4000 - 2420});
  node.state.node.allocatable["cpu"] = 4000;
  CHECK(node.predict(Predictor::priority)->reclaimable == Amounts{590, 1580});
}

TEST_CASE("priority: a pod that was never measured adds nothing to what could be lent") {
  Node node;
  node.add_pod("pending", {6000, 4000});
  CHECK(node.predict(Predictor::priority)->reclaimable == Amounts{0, 0});
}

TEST_CASE("priority: without one of the peaks there is no prediction, and the error names it") {
  for (const Subject& missing : {system_subject(), class_subject(prod), class_subject(none)}) {
    Node node;
    node.forecast.subjects.erase(missing);
    CHECK(node.predict(Predictor::priority).error().message() ==
          "nothing was learnt of " + to_string(missing) + " yet");
    CHECK_FALSE(node.predict(Predictor::minimum));
    CHECK(node.predict(Predictor::pod));
  }
}

TEST_CASE("minimum: of each resource the smaller reclaimable and the larger peak") {
  Node node;
  node.learn(pod_subject("a"), {1000, 3000});
  node.add_pod("a", {6000, 4000});
  auto by_pod = node.predict(Predictor::pod), by_class = node.predict(Predictor::priority);
  CHECK(by_pod->reclaimable == Amounts{4900, 700});
  CHECK(by_class->reclaimable == Amounts{4900, 2900});
  CHECK(node.predict(Predictor::minimum)->reclaimable == Amounts{4900, 700});
  CHECK(node.predict(Predictor::minimum)->peak == Amounts{1100, 3300});
}

TEST_CASE("raw-allocatable comes before allocatable, a resource at a time") {
  state::Node node;
  node.allocatable = {{"cpu", 20'000}, {"memory", 4096}};
  node.annotations["node.koordinator.sh/raw-allocatable"] = R"({"cpu": "10500m"})";
  CHECK(*allocatable_of(node) == Amounts{10'500, 4096});
  node.annotations["node.koordinator.sh/raw-allocatable"] = R"({"cpu": 8, "memory": "1Ki"})";
  CHECK(*allocatable_of(node) == Amounts{8000, 1024});
}

TEST_CASE("an annotation that cannot be read is an error, for allocatable may be more than there really is") {
  state::Node node;
  node.allocatable = {{"cpu", 20'000}, {"memory", 4096}};
  for (const char* text : {"", "12", "[]", "{", R"({"cpu": "many"})"}) {
    node.annotations["node.koordinator.sh/raw-allocatable"] = text;
    CAPTURE(text);
    auto allocatable = allocatable_of(node);
    REQUIRE_FALSE(allocatable);
    CHECK(allocatable.error().message().find("the annotation node.koordinator.sh/raw-allocatable: ") == 0);
  }
}

TEST_CASE("an unknown node and unknown pods are errors") {
  Node node;
  node.state.node.allocatable.erase("memory");
  CHECK(node.predict(Predictor::pod).error().message() == "the node does not say how much memory is allocatable");
  Node no_pods;
  no_pods.state.versions.pods = 0;
  CHECK(no_pods.predict(Predictor::minimum).error().message() == "the pods of this node are not known");
}

TEST_CASE("absurd requests stay at the largest number") {
  Node node;
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  for (const char* uid : {"a", "b", "c"}) {
    node.learn(pod_subject(uid), {1, 1});
    node.add_pod(uid, {largest, largest});
  }
  node.add_pod("d", {largest, largest});
  for (Predictor predictor : kPredictors) CHECK(node.predict(predictor)->reclaimable.cpu_milli <= 10'000);
  CHECK(node.predict(Predictor::pod)->peak.cpu_milli == largest);
}
