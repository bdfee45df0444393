// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "koordetector/plugin.hpp"
#include "plugins/shared/eviction/demand.hpp"

using namespace koord::eviction;
using koord::plugin::str;

namespace {

// A pod in the format of the host's records.
struct PodRecord {
  std::vector<koord_label> labels, annotations;
  std::vector<koord_resource> resources;
  std::vector<std::vector<koord_resource>> of_containers;
  std::vector<koord_container> containers;
  koord_pod pod = {};

  PodRecord& label(std::string_view key, std::string_view value) {
    return labels.push_back({str(key), str(value)}), *this;
  }
  PodRecord& annotation(std::string_view key, std::string_view value) {
    return annotations.push_back({str(key), str(value)}), *this;
  }
  PodRecord& requests(std::string_view name, std::int64_t amount) {
    return resources.push_back(resource(name, amount)), *this;
  }
  PodRecord& container(std::uint32_t kind, std::string_view name, std::int64_t request) {
    of_containers.push_back({resource(name, request)});
    koord_container record = {};
    record.struct_size = sizeof record;
    record.kind = kind;
    containers.push_back(record);
    return *this;
  }
  Candidate candidate() {
    for (std::size_t i = 0; i < containers.size(); ++i) {
      containers[i].resources = of_containers[i].data();
      containers[i].n_resources = 1;
      containers[i].resource_stride = sizeof(koord_resource);
    }
    pod.struct_size = sizeof pod;
    pod.labels = labels.data(), pod.n_labels = static_cast<std::uint32_t>(labels.size());
    pod.annotations = annotations.data(), pod.n_annotations = static_cast<std::uint32_t>(annotations.size());
    pod.resources = resources.data(), pod.n_resources = static_cast<std::uint32_t>(resources.size());
    pod.containers = containers.data(), pod.n_containers = static_cast<std::uint32_t>(containers.size());
    pod.label_stride = sizeof(koord_label), pod.resource_stride = sizeof(koord_resource);
    pod.container_stride = sizeof(koord_container);
    return candidate_of(pod);
  }
  static koord_resource resource(std::string_view name, std::int64_t request) {
    return {sizeof(koord_resource), 0, str(name), request, KOORD_ABSENT};
  }
};

Candidate named(std::string name, std::int32_t priority = 5500) {
  Candidate pod;
  pod.name = std::move(name);
  pod.priority = priority;
  pod.sub_priority = priority;
  return pod;
}

Candidate using_cpu(std::string name, std::int64_t milli) {
  Candidate pod = named(std::move(name));
  pod.used = milli;
  pod.cpu.batch = milli;
  return pod;
}

std::vector<std::string> ordered(std::vector<Victim> victims) {
  put_in_order(victims);
  std::vector<std::string> names;
  for (const Victim& victim : victims) names.push_back(victim.pod->name);
  return names;
}

using Names = std::vector<std::string>;

Demand demand(Kind kind, std::int64_t amount, std::vector<Victim> victims) {
  return {.feature = "CPUEvict",
          .released = {kind, Resource::cpu, kind == Kind::used ? Tier::native : Tier::batch},
          .amount = amount,
          .victims = std::move(victims),
          .reason = {},
          .inputs = {}};
}

}  // namespace

TEST_CASE("without the annotation each feature may evict a pod") {
  CHECK(Policy().allows("BECPUEvict"));
  CHECK(PodRecord().candidate().policy.allows("MemoryEvict"));
}

TEST_CASE("koordinator.sh/eviction-policy names the only features that may evict a pod") {
  const Policy policy(R"(["BECPUEvict", "MemoryEvict"])");
  CHECK(policy.allows("BECPUEvict"));
  CHECK(policy.allows("MemoryEvict"));
  CHECK_FALSE(policy.allows("CPUEvict"));
  CHECK_FALSE(Policy("[]").allows("BECPUEvict"));
}

TEST_CASE("an eviction-policy that cannot be parsed protects the pod from each feature") {
  for (const char* text : {"", "BECPUEvict", "{}", "[1]", "[\"BECPUEvict\", null]", "[\"BECPUEvict\"", "null"}) {
    CAPTURE(text);
    CHECK_FALSE(Policy(text).allows("BECPUEvict"));
    CHECK_FALSE(Policy(text).is_readable());
  }
}

TEST_CASE("koordinator.sh/eviction-priority is a whole number of 32 bits, else 0") {
  CHECK(order_of("-3") == -3);
  CHECK(order_of("2147483647") == 2147483647);
  CHECK(order_of("2147483648") == 0);
  CHECK(order_of("soon") == 0);
  CHECK(PodRecord().candidate().order == 0);
}

TEST_CASE("a pod is enabled for features that use priorities only if its label is true") {
  CHECK(PodRecord().label("koordinator.sh/eviction-enabled", "true").candidate().is_enabled);
  CHECK_FALSE(PodRecord().label("koordinator.sh/eviction-enabled", "True").candidate().is_enabled);
  CHECK_FALSE(PodRecord().candidate().is_enabled);
}

TEST_CASE("a pod is best effort by its label and not by its Kubernetes class") {
  PodRecord unlabelled;
  unlabelled.pod.qos = KOORD_QOS_BE;
  CHECK_FALSE(unlabelled.candidate().is_best_effort);
  CHECK(PodRecord().label("koordinator.sh/qosClass", "BE").candidate().is_best_effort);
}

TEST_CASE("only pods that are pending or running have something to release") {
  for (std::uint32_t phase :
       {KOORD_PHASE_UNKNOWN, KOORD_PHASE_PENDING, KOORD_PHASE_RUNNING, KOORD_PHASE_SUCCEEDED, KOORD_PHASE_FAILED}) {
    PodRecord record;
    record.pod.phase = phase;
    CHECK(record.candidate().is_active == (phase == KOORD_PHASE_PENDING || phase == KOORD_PHASE_RUNNING));
  }
}

TEST_CASE("a pod without a priority has that of its class") {
  CHECK(default_priority(KOORD_PRIORITY_PROD) == 9500);
  CHECK(default_priority(KOORD_PRIORITY_MID) == 7500);
  CHECK(default_priority(KOORD_PRIORITY_BATCH) == 5500);
  CHECK(default_priority(KOORD_PRIORITY_FREE) == 3500);
  CHECK(default_priority(KOORD_PRIORITY_NONE) == 0);
  PodRecord record;
  record.pod.priority_class = KOORD_PRIORITY_BATCH;
  CHECK(record.candidate().priority == 5500);
  record.pod.priority = 5001;
  CHECK(record.candidate().priority == 5001);
}

TEST_CASE("the label koordinator.sh/priority orders pods of one priority, and without it the priority does") {
  PodRecord record;
  record.pod.priority = 5100;
  CHECK(record.candidate().sub_priority == 5100);
  CHECK(record.label("koordinator.sh/priority", "7").candidate().sub_priority == 7);
  PodRecord bad;
  bad.pod.priority = 5100;
  CHECK(bad.label("koordinator.sh/priority", "7.5").candidate().sub_priority == 5100);
}

TEST_CASE(
    "a pod requests the resource of its class: batch and mid pods their own resources, all others the native one") {
  PodRecord record;
  record.requests("cpu", 4000).requests("memory", 1 << 20);
  record.container(KOORD_CONTAINER_REGULAR, "kubernetes.io/batch-cpu", 1500);
  record.container(KOORD_CONTAINER_SIDECAR, "kubernetes.io/batch-cpu", 500);
  record.container(KOORD_CONTAINER_INIT, "kubernetes.io/batch-cpu", 9000);
  record.container(KOORD_CONTAINER_REGULAR, "kubernetes.io/mid-cpu", 700);
  record.container(KOORD_CONTAINER_REGULAR, "kubernetes.io/batch-memory", -5);
  record.pod.priority_class = KOORD_PRIORITY_BATCH;
  CHECK(requested(record.candidate(), Resource::cpu) == 2000);
  CHECK(requested(record.candidate(), Resource::memory) == 0);
  record.pod.priority_class = KOORD_PRIORITY_MID;
  CHECK(requested(record.candidate(), Resource::cpu) == 700);
  for (std::uint32_t other : {KOORD_PRIORITY_PROD, KOORD_PRIORITY_FREE, KOORD_PRIORITY_NONE}) {
    record.pod.priority_class = other;
    CHECK(requested(record.candidate(), Resource::cpu) == 4000);
    CHECK(requested(record.candidate(), Resource::memory) == 1 << 20);
  }
}

TEST_CASE("a missing request counts as none") {
  PodRecord record;
  record.requests("cpu", KOORD_ABSENT);
  CHECK(record.candidate().cpu.native == 0);
}

TEST_CASE("the annotation outranks the priority, the priority the label, the label the weight, the weight the name") {
  Candidate late = named("late", 3000), early = named("early", 9000);
  late.order = 1, early.order = -1;
  CHECK(ordered({{&late, 9.0}, {&early, 1.0}}) == Names{"early", "late"});
  Candidate low = named("low", 5000), high = named("high", 5001);
  low.sub_priority = 9, high.sub_priority = 1;
  CHECK(ordered({{&high, 9.0}, {&low, 1.0}}) == Names{"low", "high"});
  Candidate first = named("first"), second = named("second");
  first.sub_priority = 1, second.sub_priority = 2;
  CHECK(ordered({{&second, 9.0}, {&first, 1.0}}) == Names{"first", "second"});
  const Candidate a = named("a"), b = named("b"), c = named("c");
  CHECK(ordered({{&a, 1.0}, {&b, 2.0}, {&c, std::nullopt}}) == Names{"b", "a", "c"});
  CHECK(ordered({{&c, 1.0}, {&a, 1.0}, {&b, 1.0}}) == Names{"a", "b", "c"});
}

TEST_CASE("the released amount is a pod's usage, or its request in that tier") {
  Candidate pod = named("a");
  CHECK(releases(pod, {Kind::used, Resource::cpu, Tier::native}) == 0);
  pod.used = 300;
  pod.cpu = {.native = 1, .mid = 2, .batch = 3};
  CHECK(releases(pod, {Kind::used, Resource::cpu, Tier::native}) == 300);
  CHECK(releases(pod, {Kind::requested, Resource::cpu, Tier::batch}) == 3);
  CHECK(releases(pod, {Kind::requested, Resource::cpu, Tier::mid}) == 2);
  CHECK(name_of({Kind::used, Resource::memory, Tier::native}) == "memory");
  CHECK(name_of({Kind::requested, Resource::memory, Tier::mid}) == "kubernetes.io/mid-memory.request");
}

TEST_CASE("a demand is reduced by the amounts that the evictions of earlier demands release") {
  const Candidate a = using_cpu("a", 3000), b = using_cpu("b", 2000), c = using_cpu("c", 1000);
  const std::vector<Victim> all = {{&a, {}}, {&b, {}}, {&c, {}}};
  const auto settled = settle({demand(Kind::requested, 4000, all), demand(Kind::used, 5500, all)});
  REQUIRE(settled.size() == 2);
  CHECK(settled[0].amount == 4000);
  CHECK(settled[0].victims.size() == 3);  // c stays in the list in case a different pod cannot be evicted
  CHECK(settled[1].amount == 500);        // a and b are evicted already
  REQUIRE(settled[1].victims.size() == 1);
  CHECK(settled[1].victims[0].pod->name == "c");
}

TEST_CASE("a demand that earlier evictions satisfy is left out") {
  const Candidate a = using_cpu("a", 3000), b = using_cpu("b", 2000);
  const std::vector<Victim> all = {{&a, {}}, {&b, {}}};
  const auto settled = settle({demand(Kind::requested, 3000, all), demand(Kind::used, 3000, all)});
  REQUIRE(settled.size() == 1);
  CHECK(settled[0].released.kind == Kind::requested);
}

TEST_CASE("a pod that releases nothing of the scarce resource is not evicted") {
  const Candidate idle = using_cpu("idle", 0), a = using_cpu("a", 10);
  const auto settled = settle({demand(Kind::used, 100, {{&idle, {}}, {&a, {}}})});
  REQUIRE(settled.size() == 1);
  REQUIRE(settled[0].victims.size() == 1);
  CHECK(settled[0].victims[0].pod->name == "a");
  CHECK(settle({demand(Kind::used, 100, {{&idle, {}}})}).empty());
}
