// SPDX-License-Identifier: Apache-2.0
#include "core/evict/eligibility.hpp"

#include <doctest/doctest.h>

#include "pods.hpp"

using namespace koord;
using namespace koord::evict;
using namespace koord::test;

namespace {

constexpr const char* kOwn = "uid-of-the-agent";

std::string protection(void (*change)(state::Pod&)) {
  state::Pod pod = best_effort_pod(1);
  change(pod);
  return protection_of(pod, kOwn);
}

std::string opt_out(const char* feature, void (*change)(state::Pod&)) {
  state::Pod pod = best_effort_pod(1);
  change(pod);
  return opt_out_of(pod, feature);
}

}  // namespace

TEST_CASE("a pod that the node or the agent needs is never evicted") {
  CHECK(protection([](auto&) {}).empty());
  CHECK(protection([](auto& pod) { pod.uid = kOwn; }) == "it is the agent's own pod");
  CHECK(protection([](auto& pod) { pod.annotations["kubernetes.io/config.mirror"] = "8f2"; }) == "it is a static pod");
  CHECK(protection([](auto& pod) { pod.annotations["kubernetes.io/config.source"] = "file"; }) == "it is a static pod");
  CHECK(protection([](auto& pod) { pod.annotations["kubernetes.io/config.source"] = "api"; }).empty());
  CHECK(protection([](auto& pod) { pod.priority = 2'000'000'000; }) == "it is critical for the system");
  CHECK(protection([](auto& pod) { pod.priority = 1'999'999'999; }).empty());
  CHECK(protection([](auto& pod) { pod.owner_kind = "DaemonSet"; }) ==
        "its DaemonSet would make it again at once, here");
}

TEST_CASE("a pod that has ended or is known by its cgroup only is not evicted") {
  CHECK(protection([](auto& pod) { pod.phase = state::Phase::succeeded; }) == "it has ended");
  CHECK(protection([](auto& pod) { pod.phase = state::Phase::failed; }) == "it has ended");
  CHECK(protection([](auto& pod) { pod.phase = state::Phase::pending; }).empty());
  CHECK(protection([](auto& pod) { pod.name.clear(); }) == "it is not known in Kubernetes");
}

TEST_CASE("a pod with hands-off is not evicted, a pod with hands-off for some knobs may be") {
  CHECK_FALSE(protection([](auto& pod) { pod.annotations["koordetector.sh/hands-off"] = "true"; }).empty());
  CHECK(protection([](auto& pod) { pod.annotations["koordetector.sh/hands-off"] = "cpu.max"; }).empty());
}

TEST_CASE("an eviction policy allows the features that it names, and an invalid policy allows none") {
  CHECK(opt_out("BEMemoryEvict", [](auto&) {}).empty());
  const auto with_policy = [](const char* feature, const char* policy) {
    state::Pod pod = best_effort_pod(1);
    pod.annotations["koordinator.sh/eviction-policy"] = policy;
    return opt_out_of(pod, feature);
  };
  CHECK(with_policy("BEMemoryEvict", R"(["BECPUEvict", "BEMemoryEvict"])").empty());
  CHECK(with_policy("BEMemoryEvict", R"(["BECPUEvict"])") ==
        "its koordinator.sh/eviction-policy does not name BEMemoryEvict");
  CHECK_FALSE(with_policy("BEMemoryEvict", "[]").empty());
  for (const char* wrong :
       {"", "BEMemoryEvict", R"({"BEMemoryEvict":true})", R"(["BEMemoryEvict"] x)", R"(["BEMemoryEvict")", R"([1])"})
    CHECK_MESSAGE(with_policy("BEMemoryEvict", wrong) ==
                      "its koordinator.sh/eviction-policy is no JSON list of texts, which allows nothing",
                  wrong);
}

TEST_CASE("priority features need a pod's opt-in; for the others best effort is enough; an opt-out applies to all") {
  const auto labelled_true = [](state::Pod& pod) { pod.labels["koordinator.sh/eviction-enabled"] = "true"; };
  const auto labelled_false = [](state::Pod& pod) { pod.labels["koordinator.sh/eviction-enabled"] = "false"; };
  const auto production = [](state::Pod& pod) { pod.koord_qos = state::KoordQos::ls; };
  for (const char* feature : {"CPUEvict", "MemoryEvict", "CPUAllocatableEvict", "MemoryAllocatableEvict"}) {
    CHECK_FALSE(opt_out(feature, [](auto&) {}).empty());
    CHECK(opt_out(feature, labelled_true).empty());
  }
  CHECK_FALSE(opt_out("BECPUEvict", labelled_false).empty());
  CHECK(opt_out("com.example.thermal", [](auto&) {}).empty());
  CHECK_FALSE(opt_out("com.example.thermal", production).empty());
  CHECK(opt_out("com.example.thermal", [](auto& pod) {
          pod.koord_qos = state::KoordQos::ls;
          pod.labels["koordinator.sh/eviction-enabled"] = "true";
        }).empty());
}
