// SPDX-License-Identifier: Apache-2.0
#include "core/state/pod_resources.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace koord::state;

namespace {

Container with(std::vector<Resource> resources, ContainerKind kind = ContainerKind::regular) {
  Container container;
  container.kind = kind;
  container.resources = std::move(resources);
  return container;
}

constexpr std::int64_t kNone = kNoResource;

}  // namespace

TEST_CASE("a sidecar counts beside the containers, and beside the init containers after it") {
  using enum ContainerKind;
  CHECK(sum_resources({with({{"cpu", 100, 100}}, sidecar), with({{"cpu", 500, 500}}, init),
                       with({{"cpu", 200, 200}})}) == std::vector<Resource>{{"cpu", 600, 600}});
  CHECK(sum_resources({with({{"cpu", 500, 500}}, init), with({{"cpu", 100, 100}}, sidecar),
                       with({{"cpu", 450, 450}})}) == std::vector<Resource>{{"cpu", 550, 550}});
}

TEST_CASE("one container without a limit makes the pod unlimited") {
  CHECK(sum_resources({with({{"cpu", 100, 200}}), with({{"cpu", 100, kNone}})}) ==
        std::vector<Resource>{{"cpu", 200, kNone}});
  CHECK(sum_resources({with({{"cpu", 100, kNone}}, ContainerKind::init), with({{"cpu", 100, 200}})}) ==
        std::vector<Resource>{{"cpu", 100, kNone}});
}

TEST_CASE("amounts stated for the whole pod go before the sum of its containers") {
  const std::vector<Container> containers = {with({{"cpu", 1000, kNone}, {"example.org/card", 1, 1}})};
  CHECK(pod_resources(containers, {{"cpu", 3000, 4000}, {"memory", kNone, 1024}, {"example.org/card", 5, 5}}, {}) ==
        std::vector<Resource>{{"cpu", 3000, 4000}, {"example.org/card", 1, 1}, {"memory", 1024, 1024}});
  CHECK(pod_resources(containers, {{"cpu", kNone, 4000}}, {}).front() == Resource{"cpu", 1000, 4000});
}

TEST_CASE("the pod's overhead is requested in any case, and raises an existing limit") {
  CHECK(pod_resources({with({{"cpu", 100, kNone}, {"memory", 10, 20}})}, {}, {{"cpu", 50}, {"memory", 5}}) ==
        std::vector<Resource>{{"cpu", 150, kNone}, {"memory", 15, 25}});
  CHECK(pod_resources({}, {}, {{"cpu", 50}}) == std::vector<Resource>{{"cpu", 50, kNone}});
}

TEST_CASE("while a resize is pending a container asks for the most of both, and its limit is what it has") {
  std::vector<Resource> resources = {{"cpu", 1000, 2000}, {"memory", 100, 100}};
  apply_resize({.actual = {{"cpu", 500, 800}}, .allocated = {{"cpu", 700}, {"memory", 200}}, .is_pending = true},
               resources);
  CHECK(resources == std::vector<Resource>{{"cpu", 1000, 800}, {"memory", 200, 100}});
}

TEST_CASE("a limit that the kubelet has granted is the limit before the container has it, smaller or larger") {
  for (const std::int64_t actual : {500, 2000}) {
    std::vector<Resource> resources = {{"cpu", 1000, 1000}};
    apply_resize({.actual = {{"cpu", actual, actual}}}, resources);
    CHECK(resources == std::vector<Resource>{{"cpu", std::max<std::int64_t>(actual, 1000), 1000}});
  }
}

TEST_CASE("a status adds no amount that the spec does not have") {
  for (const bool is_pending : {false, true}) {
    std::vector<Resource> resources = {{"cpu", 100, kNone}, {"kubernetes.io/batch-cpu", 500, 800}};
    apply_resize({.actual = {{"cpu", 100, 800}, {"kubernetes.io/batch-cpu", 500, 800}, {"memory", 2, 128}},
                  .allocated = {{"memory", 2}},
                  .is_pending = is_pending},
                 resources);
    CHECK(resources == std::vector<Resource>{{"cpu", 100, kNone}, {"kubernetes.io/batch-cpu", 500, 800}});
  }
}

TEST_CASE("a resize that this node cannot have does not count") {
  std::vector<Resource> resources = {{"cpu", 64000, 64000}, {"memory", 100, 100}};
  apply_resize({.actual = {{"cpu", 500, 800}}, .allocated = {{"cpu", 700}}, .is_pending = true, .is_infeasible = true},
               resources);
  CHECK(resources == std::vector<Resource>{{"cpu", 700, 800}, {"memory", 100, 100}});
}

TEST_CASE("sums that do not fit stay at the most there is") {
  constexpr std::int64_t kMost = INT64_MAX;
  CHECK(sum_resources({with({{"memory", kMost, kMost}}), with({{"memory", 1, 1}})}) ==
        std::vector<Resource>{{"memory", kMost, kMost}});
}
