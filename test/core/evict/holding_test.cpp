// SPDX-License-Identifier: Apache-2.0
#include "core/evict/holding.hpp"

#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"
#include "core/evict/container_kill.hpp"
#include "pods.hpp"

using namespace koord;
using namespace koord::evict;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

struct Cache {
  ManualClock clock;
  std::unique_ptr<store::Store> cache = *store::Store::open({}, clock);
  std::uint32_t next = 1;

  std::uint32_t begin(const std::string& metric, double resolution, store::Labels labels) {
    REQUIRE(cache->begin_series(next, {metric, "", resolution, std::move(labels)}));
    return next++;
  }
  void append(std::uint32_t index, double value) {
    const store::Sample sample{index, value};
    REQUIRE(cache->append(clock.now(), {&sample, 1}));
  }
};

}  // namespace

TEST_CASE_FIXTURE(Cache, "a pod's usage is its newest sample, in milli-cores and bytes") {
  const auto cpu = begin("pod_cpu_usage", 0.001, {{"pod_uid", "a"}}),
             memory = begin("pod_memory_usage", 1, {{"pod_uid", "a"}});
  append(cpu, 0.5);
  append(memory, 4096);
  clock.advance(1s);
  append(cpu, 1.25);
  const UsageByPod usage = read_usage(*cache, clock.now());
  REQUIRE(usage.size() == 1);
  CHECK(usage.at("a").cpu_milli == 1250);
  CHECK(usage.at("a").memory_bytes == 4096);
}

TEST_CASE_FIXTURE(Cache, "a sample that is older than a minute, or of no pod, is unknown") {
  append(begin("pod_cpu_usage", 0.001, {{"pod_uid", "a"}}), 0.5);
  append(begin("pod_memory_usage", 1, {}), 4096);
  clock.advance(61s);
  CHECK(read_usage(*cache, clock.now()).empty());
}

TEST_CASE_FIXTURE(Cache, "a series with other labels than before goes on with its newest sample") {
  const auto before = begin("pod_memory_usage", 1, {{"pod_name", "old"}, {"pod_uid", "a"}});
  append(before, 1);
  clock.advance(1s);
  const auto after = begin("pod_memory_usage", 1, {{"pod_name", "new"}, {"pod_uid", "a"}});
  append(after, 2);
  CHECK(read_usage(*cache, clock.now()).at("a").memory_bytes == 2);
}

TEST_CASE("a pod holds its usage of cpu and memory, and its requests of named resources") {
  const std::vector<state::Resource> resources{
      {"cpu", 250, 500}, {"kubernetes.io/batch-cpu", 2000, state::kNoResource}, {"memory", state::kNoResource, 4096}};
  const Holding holding{{1500, std::nullopt}, resources};
  const auto of = [&](std::string_view resource) { return holding.of(*parse_release(resource)); };
  CHECK(of("cpu") == 1500);
  CHECK(of("memory") == 0);
  CHECK(of("cpu.request") == 250);
  CHECK(of("kubernetes.io/batch-cpu.request") == 2000);
  CHECK(of("kubernetes.io/batch-cpu") == 2000);
  CHECK(of("memory.request") == 0);
  CHECK_FALSE(parse_release("disk"));
  CHECK_FALSE(parse_release(".request"));
}

TEST_CASE("the node's pressure is the share of time in which all wait for memory") {
  CHECK(full_memory_pressure(
            "some avg10=30.10 avg60=1.00 avg300=0.00 total=1\nfull avg10=21.50 avg60=0.50 avg300=0.00 total=1\n") ==
        21.5);
  CHECK_FALSE(full_memory_pressure(""));
  CHECK_FALSE(full_memory_pressure("some avg10=30.10 avg60=1.00 avg300=0.00 total=1\n"));
  CHECK_FALSE(full_memory_pressure("full total=1\n"));
  CHECK_FALSE(full_memory_pressure("full avg10=much\n"));
}
