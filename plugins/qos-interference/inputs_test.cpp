// SPDX-License-Identifier: Apache-2.0
// The pods of the ladder, from records of koord.state/1.
#include "plugins/qos-interference/inputs.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace koord::mitigation;
using koord::plugin::str;
using koord::plugin::Strided;

namespace {

// A pod with one container.
struct PodRecord {
  explicit PodRecord(std::vector<koord_resource> requests) : resources(std::move(requests)) {
    container.struct_size = sizeof container;
    container.kind = KOORD_CONTAINER_REGULAR;
    pod.struct_size = sizeof pod;
    pod.phase = KOORD_PHASE_RUNNING;
    pod.ns = str("batch");
    pod.name = str("etl");
    pod.cgroup_dir = str("kubepods/burstable/podetl");
    pod.containers = &container;
    pod.n_containers = 1;
    pod.container_stride = sizeof container;
    container.resources = pod.resources = resources.data();
    container.n_resources = pod.n_resources = static_cast<std::uint32_t>(resources.size());
    container.resource_stride = pod.resource_stride = sizeof(koord_resource);
  }
  Pod read() const {
    const std::vector<Pod> pods = pods_of(Strided<koord_pod>(&pod, 1, sizeof pod));
    REQUIRE(pods.size() == 1);
    return pods[0];
  }

  std::vector<koord_resource> resources;
  koord_container container = {};
  koord_pod pod = {};
};

koord_resource resource(const char* name, std::int64_t request) {
  koord_resource resource = {};
  resource.name = str(name);
  resource.request = request;
  resource.limit = KOORD_ABSENT;
  return resource;
}

}  // namespace

TEST_CASE("a pod's request is the one under its native name, or the larger one of batch or mid") {
  struct Row {
    const char *cpu, *memory;
  };
  for (const Row& row : {Row{"cpu", "memory"}, Row{"kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"},
                         Row{"kubernetes.io/mid-cpu", "kubernetes.io/mid-memory"}}) {
    const Pod pod = PodRecord({resource(row.cpu, 1500), resource(row.memory, 2'000'000'000)}).read();
    CHECK(pod.cpu_request == 1.5);
    CHECK(pod.memory_request == 2e9);
  }
  const Pod both = PodRecord({resource("cpu", 100), resource("kubernetes.io/batch-cpu", 1500)}).read();
  CHECK(both.cpu_request == 1.5);
  const Pod neither = PodRecord({resource("cpu", KOORD_ABSENT)}).read();
  CHECK(neither.cpu_request == 0);
  CHECK(neither.memory_request == 0);
  CHECK(neither.may_be_evicted);
}
