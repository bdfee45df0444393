// SPDX-License-Identifier: Apache-2.0
#include "core/state/baseline_checkpoint.hpp"

#include <doctest/doctest.h>

#include "core/state/hub.hpp"

using namespace koord;
using namespace koord::state;

namespace {

BaselineCheckpoint checkpoint() {
  BaselineCheckpoint one;
  one.workload = one.cpu.workload = "shop/cart/app";
  one.node = "node-a";
  one.updated = 1'784'000'000;
  one.cpu.windows = 7200;
  one.cpu.weights = {{0, 100.5}, {41, 12}};
  one.cpu.quiet = {{"batch/etl/main", 0.0125}, {":kernel", 0.5}};
  return one;
}

std::string object(const std::string& spec) {
  return R"({"kind": "InterferenceMetricCheckpoint", "metadata": {"name": "w-1"}, "spec": )" + spec + "}";
}

std::string with_cpu(const std::string& cpu) {
  return object(R"({"workload": "a/b/c", "node": "n", "updateTime": "2026-07-24T06:52:45Z", "cpu": )" + cpu + "}");
}

std::string problem(const std::string& text) {
  const auto parsed = parse_checkpoint(text);
  return parsed ? "" : parsed.error().message();
}

}  // namespace

TEST_CASE("a checkpoint reads back as it was written") {
  const auto read = parse_checkpoint(checkpoint_object(checkpoint()));
  REQUIRE(read);
  CHECK(read->workload == "shop/cart/app");
  CHECK(read->node == "node-a");
  CHECK(read->updated == 1'784'000'000);
  CHECK(read->cpu == checkpoint().cpu);
  CHECK_FALSE(read->memory);
  CHECK(checkpoint_name("shop/cart/app") == checkpoint_name("shop/cart/app"));
  CHECK(checkpoint_name("shop/cart/app") != checkpoint_name("shop/cart/app2"));
  CHECK(checkpoint_name("x").size() == 18);
}

TEST_CASE("a checkpoint counts as an hour of windows at most") {
  BaselineCheckpoint heavy = checkpoint();
  heavy.cpu.weights = {{0, 9e8}, {10, 9e8}};
  const auto read = parse_checkpoint(checkpoint_object(heavy));
  REQUIRE(read);
  CHECK(read->cpu.weights[0].second == doctest::Approx(kMostCheckpointWeight / 2));
}

TEST_CASE("an error names the field, what was found and what is expected") {
  CHECK(problem(object("{}")) == "spec.workload: expected text, found nothing");
  CHECK(problem(object(R"({"workload": "a b"})")) == "spec.workload: expected a workload's name");
  CHECK(problem(object(R"({"workload": "a"})")) == "spec.node: expected text, found nothing");
  CHECK(problem(object(R"({"workload": "a", "node": "n", "updateTime": "today"})")).starts_with("spec.updateTime: "));
  CHECK(problem(with_cpu("[]")) == "spec.cpu: expected a mapping, found a list");
  CHECK(problem(with_cpu(R"({"windows": 0})")) == "spec.cpu.windows: found 0, expected 1 to 1000000000");
  CHECK(problem(with_cpu(R"({"windows": 9})")).starts_with("spec.cpu.buckets: found 0, expected 1 to "));
  CHECK(problem(with_cpu(R"({"windows": 9, "buckets": [{"index": 9999, "weight": 1}]})"))
            .starts_with("spec.cpu.buckets[0].index: found 9999, expected 0 to "));
  CHECK(problem(with_cpu(R"({"windows": 9, "buckets": [{"index": 1, "weight": -1}]})"))
            .starts_with("spec.cpu.buckets[0].weight: found -1"));
  const std::string one_bucket = R"({"windows": 9, "buckets": [{"index": 1, "weight": 1}], "suspects": )";
  CHECK(problem(with_cpu(one_bucket + R"([{"name": "a\u001b", "quietMsPerSecond": 1}]})")) ==
        "spec.cpu.suspects[0].name: expected a workload's name");
  CHECK(problem(with_cpu(one_bucket + R"([{"name": "a", "quietMsPerSecond": 1e9}]})"))
            .starts_with("spec.cpu.suspects[0].quietMsPerSecond: found 1000000000"));
  CHECK(problem(with_cpu(one_bucket + "[1,2,3,4,5,6,7,8,9]}")) == "spec.cpu.suspects: found 9, expected at most 8");
  CHECK(problem(with_cpu(one_bucket + "[]}")).empty());
}

TEST_CASE("a change is material if the quiet level is another by a fifth, or twice as many windows are known") {
  const BaselineCheckpoint base = checkpoint();
  BaselineCheckpoint other = base;
  CHECK_FALSE(differs_materially(base, other));
  other.cpu.windows = 14399;
  other.cpu.weights.emplace_back(50, 3);
  CHECK_FALSE(differs_materially(base, other));
  other.cpu.windows = 14400;
  CHECK(differs_materially(base, other));
  CHECK(differs_materially(other, base));
  other = base;
  other.cpu.weights = {{5, 100}};
  CHECK(differs_materially(base, other));
  other = base;
  other.memory = base.cpu;
  CHECK(differs_materially(base, other));
  BaselineCheckpoint changed = other;
  CHECK_FALSE(differs_materially(changed, other));
  changed.memory->weights = {{5, 100}};
  CHECK(differs_materially(changed, other));
}

TEST_CASE("a checkpoint may have a level of memory") {
  BaselineCheckpoint one = checkpoint();
  one.memory = one.cpu;
  one.memory->quiet.clear();
  one.memory->weights = {{0, 9e8}, {7, 9e8}};
  const auto read = parse_checkpoint(checkpoint_object(one));
  REQUIRE(read);
  REQUIRE(read->memory);
  CHECK(read->memory->windows == 7200);
  CHECK(read->memory->weights[1].second == doctest::Approx(kMostCheckpointWeight / 2));
  const std::string cpu = R"({"windows": 9, "buckets": [{"index": 1, "weight": 1}]}, "memory": )";
  CHECK(problem(with_cpu(cpu + "[]")) == "spec.memory: expected a mapping, found a list");
  CHECK(problem(with_cpu(cpu + R"({"windows": 0})")) == "spec.memory.windows: found 0, expected 1 to 1000000000");
}

TEST_CASE("a Deployment has the same name in the cluster with each of its ReplicaSets") {
  std::vector<Pod> pods(4);
  for (Pod& pod : pods) {
    pod.namespace_ = "shop";
    pod.containers.resize(1);
    pod.containers[0].name = "app";
  }
  pods[0].owner_kind = pods[1].owner_kind = "ReplicaSet";
  pods[0].owner_name = "cart-7d9f";
  pods[0].labels["pod-template-hash"] = "7d9f";
  pods[1].owner_name = "bare-7d9f";
  pods[2].owner_kind = "DaemonSet";
  pods[2].owner_name = "log-7d9f";
  pods[2].labels["pod-template-hash"] = "7d9f";
  Hub hub;
  for (std::size_t i = 0; i < pods.size(); ++i) pods[i].uid = std::to_string(i);
  hub.publish({.pods = pods});
  const auto workloads = cluster_workloads(*hub.current());
  CHECK(workloads == std::map<std::string, std::string>{{"shop/cart-7d9f/app", "shop/cart/app"},
                                                        {"shop/bare-7d9f/app", "shop/bare-7d9f/app"},
                                                        {"shop/log-7d9f/app", "shop/log-7d9f/app"}});
}
