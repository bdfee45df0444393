// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-batch-resource/batch_resource.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_host.hpp"

using namespace koord::batch;
using koord::state::Pod;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;

namespace {

constexpr std::int64_t kGi = std::int64_t{1} << 30;

std::vector<std::pair<std::string, std::string>> fields(const char* shares, const char* quota, const char* memory) {
  return {{"linux.cpu.shares", shares}, {"linux.cpu.quota", quota}, {"linux.memory.limit", memory}};
}

Pod best_effort_pod() {
  Pod pod;
  pod.uid = pod.name = "batch";
  pod.koord_qos = koord::state::KoordQos::be;
  koord::state::Container main;
  main.name = "main";
  main.resources = {{"kubernetes.io/batch-cpu", 500, 1000}, {"kubernetes.io/batch-memory", kGi, 2 * kGi}};
  pod.containers = {main};
  return pod;
}

}  // namespace

TEST_CASE("a container's limits are computed from its batch resources, within the kernel's limits") {
  struct Row {
    Amounts amounts;
    Limits limits;
  };
  for (const Row& row :
       {Row{{500, 1000, 2 * kGi}, {512, 100'000, 2 * kGi}},
        Row{{std::nullopt, std::nullopt, kGi}, {2, kNoLimit, kGi}},  // no CPU requested: the fewest shares
        Row{{1, 5, std::nullopt}, {2, 1000, kNoLimit}},              // 500 µs are below the kernel's minimum
        Row{{1'000'000, 1'000'000, 1}, {262144, 100'000'000, 1}},
        Row{{INT64_MAX, INT64_MAX, INT64_MAX}, {262144, 100'000'000'000, INT64_MAX}},
        Row{{0, 0, 0}, {2, kNoLimit, kNoLimit}}}) {  // 0 means no limit
    CAPTURE(row.limits.shares);
    CHECK(limits_of(row.amounts) == row.limits);
  }
  CHECK_FALSE(limits_of(Amounts{}));
}

TEST_CASE("a pod's limits are the need of its containers at one time, and no limit if one of them has none") {
  const Amounts main{500, 1000, kGi}, side{250, 500, kGi}, starter{2000, 3000, 4 * kGi, Kind::init},
      open{100, std::nullopt, kGi};
  CHECK(limits_of(std::vector{main, side}) == Limits{768, 150'000, 2 * kGi});
  CHECK(limits_of(std::vector{main, side, starter}) == Limits{2048, 300'000, 4 * kGi});
  CHECK(limits_of(std::vector{main, open}) == Limits{614, kNoLimit, 2 * kGi});
  CHECK(limits_of(std::vector{main, Amounts{}}) == Limits{512, kNoLimit, kNoLimit});
  CHECK_FALSE(limits_of(std::vector<Amounts>{}));
  // A sidecar runs in parallel with later init containers and with the regular containers.
  const Amounts sidecar{1000, 1000, 4 * kGi, Kind::sidecar};
  CHECK(limits_of(std::vector{sidecar, starter, main}) == Limits{3072, 400'000, 8 * kGi});
  CHECK(limits_of(std::vector{starter, sidecar, main}) == Limits{2048, 300'000, 5 * kGi});
  CHECK_FALSE(limits_of(std::vector{Amounts{}, Amounts{}}));
  const Amounts huge{INT64_MAX, INT64_MAX, INT64_MAX};
  CHECK(limits_of(std::vector{huge, huge}) == Limits{262144, 100'000'000'000, INT64_MAX});
}

TEST_CASE("the hook answers for best-effort pods with batch resources, and changes no other pod") {
  const FakeNode node;
  FakeHost host(node);
  FakeInstance hook(host, koord_entry_v1());
  REQUIRE(hook.init() == KOORD_OK);
  Pod pod = best_effort_pod();
  CHECK(hook.handle(pod).fields == fields("512", "100000", "2147483648"));
  CHECK(hook.handle(pod, &pod.containers[0]).fields == fields("512", "100000", "2147483648"));

  pod.koord_qos = koord::state::KoordQos::ls;
  CHECK(hook.handle(pod).fields.empty());
  pod.koord_qos = koord::state::KoordQos::be;
  pod.containers[0].resources = {{"cpu", 100, 200}};
  CHECK(hook.handle(pod).fields.empty());
  CHECK(hook.handle(pod, &pod.containers[0]).fields.empty());
}
