// SPDX-License-Identifier: Apache-2.0
// Tests of the ladder's pods and verdicts, built from records of koord.state/1 and koord.verdict/1.
#include "plugins/qos-interference/inputs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "koordetector/verdicts.hpp"

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

constexpr std::uint64_t kCartPod = 1, kCart = 11, kEtlPod = 2, kEtl = 12, kEtlSidecar = 22;
const PodOfSubject kPods = {
    {kCartPod, kCartPod}, {kCart, kCartPod}, {kEtlPod, kEtlPod}, {kEtl, kEtlPod}, {kEtlSidecar, kEtlPod}};

koord_suspect suspect(std::uint64_t subject, double value, double share) {
  koord_suspect suspect = {};
  suspect.struct_size = sizeof suspect;
  suspect.kind = KOORD_SUSPECT_SUBJECT;
  suspect.subject = subject;
  suspect.value = value;
  suspect.share = share;
  return suspect;
}

koord_verdict verdict(std::vector<koord_suspect>& suspects) {
  koord_verdict verdict = {};
  verdict.struct_size = sizeof verdict;
  verdict.kind = KOORD_VERDICT_INTERFERED;
  verdict.resource = KOORD_RESOURCE_CPU;
  verdict.method = KOORD_METHOD_EXACT;
  verdict.victim = kCart;
  verdict.windows_over = 28;
  verdict.statistic = str("held_up");
  verdict.statistic_unit = str("ratio");
  verdict.value = 0.042;
  verdict.threshold = 0.01;
  verdict.amount_unit = str("seconds/second");
  verdict.suspects = &suspects.front();
  verdict.n_suspects = static_cast<std::uint32_t>(suspects.size());
  verdict.suspect_stride = sizeof(koord_suspect);
  verdict.id = 12;
  verdict.plugin = str("advisor-interference");
  verdict.victim_name = str("shop/cart-7d9/app");
  verdict.origin = KOORD_ORIGIN_OWN;
  return verdict;
}

std::vector<Verdict> read(const koord_verdict& one, const Trusted& trusted = {}) {
  return verdicts_of(Strided<koord_verdict>(&one, 1, sizeof one), kPods, trusted);
}

}  // namespace

TEST_CASE("a verdict's suspects are added up by pod, and those outside of pods are left out") {
  std::vector<koord_suspect> suspects(1, suspect(kEtl, 0.03, 0.5));
  std::vector<koord_suspect> all = {suspect(kEtl, 0.03, 0.5), suspect(kEtlSidecar, 0.01, 0.2), suspect(99, 0.01, 0.2)};
  all.push_back(suspect(kCartPod, 0.1, 0.1));
  all.back().kind = KOORD_SUSPECT_KERNEL;
  koord_verdict one = verdict(suspects);
  one.suspects = all.data();
  one.n_suspects = static_cast<std::uint32_t>(all.size());
  const std::vector<Verdict> verdicts = read(one);
  REQUIRE(verdicts.size() == 1);
  CHECK(verdicts[0].id == 12);
  CHECK(verdicts[0].victim == kCartPod);
  CHECK(verdicts[0].victim_name == "shop/cart-7d9/app");
  CHECK(verdicts[0].windows == 28);
  REQUIRE(verdicts[0].suspects.size() == 1);
  CHECK(verdicts[0].suspects[0].pod == kEtlPod);
  CHECK(verdicts[0].suspects[0].waited == doctest::Approx(0.04));
  CHECK(verdicts[0].suspects[0].share == doctest::Approx(0.7));
}

TEST_CASE("only exact and estimated verdicts about others count, and only by the node's own or trusted plugins") {
  std::vector<koord_suspect> suspects(1, suspect(kEtl, 0.03, 0.5));
  koord_verdict one = verdict(suspects);
  Trusted trusted;
  std::size_t expected = 0;
  SUBCASE("an estimated verdict") {
    one.method = KOORD_METHOD_ESTIMATED;
    expected = 1;
  }
  SUBCASE("a suspected verdict") { one.method = KOORD_METHOD_SUSPECTED; }
  SUBCASE("a verdict about the victim's own quota") { one.kind = KOORD_VERDICT_SELF_QUOTA; }
  SUBCASE("a verdict about caches") { one.resource = KOORD_RESOURCE_CACHE; }
  SUBCASE("a verdict about a victim outside of pods") { one.victim = 99; }
  SUBCASE("a verdict by a third party") { one.origin = KOORD_ORIGIN_THIRD_PARTY; }
  SUBCASE("a verdict by a third party with a name that begins like a trusted one") {
    one.origin = KOORD_ORIGIN_THIRD_PARTY;
    one.plugin = str("com.example.judge2");
    trusted = {"com.example.judge"};
  }
  SUBCASE("a verdict by a trusted third party") {
    one.origin = KOORD_ORIGIN_THIRD_PARTY;
    one.plugin = str("com.example.judge");
    trusted = {"com.example.judge"};
    expected = 1;
  }
  CHECK(read(one, trusted).size() == expected);
}

TEST_CASE("unknown values of a suspect blame no pod") {
  std::vector<koord_suspect> suspects(1, suspect(kEtl, NAN, NAN));
  const std::vector<Verdict> verdicts = read(verdict(suspects));
  REQUIRE(verdicts.size() == 1);
  CHECK(verdicts[0].suspects[0].share == 0);
  CHECK(verdicts[0].suspects[0].waited == 0);
}

TEST_CASE("the class of a pod is its QoS class, or else its priority class, or else prod") {
  const auto rank = [](std::uint32_t qos, std::uint32_t priority) {
    koord_pod pod = {};
    pod.qos = qos;
    pod.priority_class = priority;
    return rank_of(pod);
  };
  CHECK(rank(KOORD_QOS_BE, KOORD_PRIORITY_PROD) == Rank::best_effort);
  CHECK(rank(KOORD_QOS_LS, KOORD_PRIORITY_FREE) == Rank::best_effort);
  CHECK(rank(KOORD_QOS_LS, KOORD_PRIORITY_BATCH) == Rank::batch);
  CHECK(rank(KOORD_QOS_NONE, KOORD_PRIORITY_MID) == Rank::mid);
  CHECK(rank(KOORD_QOS_LS, KOORD_PRIORITY_NONE) == Rank::prod);
  CHECK(rank(KOORD_QOS_NONE, KOORD_PRIORITY_NONE) == Rank::prod);
  for (const std::uint32_t qos : {KOORD_QOS_SYSTEM, KOORD_QOS_LSE, KOORD_QOS_LSR})
    CHECK(rank(qos, KOORD_PRIORITY_BATCH) == Rank::prod);
}

TEST_CASE("a pod's request is its native one, or the larger one of batch or mid") {
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
