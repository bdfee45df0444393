// SPDX-License-Identifier: Apache-2.0
// The strategies that write knobs, as rows: the NodeSLO of each, the files that it sets and their values, and the
// property that each must have. Header-only.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "test/composed/sessions.hpp"

namespace koord::test {

inline constexpr const char* kBurst =
    "cpuBurstStrategy: {policy: auto, cpuBurstPercent: 100, cfsQuotaBurstPercent: 200, cfsQuotaBurstPeriodSeconds: -1,"
    " sharePoolThresholdPercent: 100}";
inline constexpr const char* kQuota =
    "resourceUsedThresholdWithBE: {enable: true, cpuSuppressThresholdPercent: 0, cpuSuppressPolicy: cfsQuota}";
inline constexpr const char* kSet =
    "resourceUsedThresholdWithBE: {enable: true, cpuSuppressThresholdPercent: 0, cpuSuppressPolicy: cpuset}";
inline constexpr const char* kMemory =
    "lsClass: {memoryQOS: {enable: true, minLimitPercent: 50, lowLimitPercent: 100, throttlingPercent: 50, "
    "oomKillGroup: 1}}";
inline constexpr const char* kSystem =
    "systemStrategy: {minFreeKbytesFactor: 100, watermarkScaleFactor: 150, memcgReapBackGround: 1}";
inline constexpr const char* kOff = "{cpuBurstStrategy: {policy: none}}";

inline std::string spec(const std::string& members) { return "{" + members + "}"; }

// For a limit of 100m and 200 percent.
inline void expect_burst(Sessions& node) {
  for (const RealCgroup* cgroup : {&node.pods.service_pod, &node.pods.service}) {
    node.expect(node.quota_file(*cgroup), {node.pods.is_v2() ? "20000 100000" : "20000"});
    node.expect(node.file(*cgroup, cgroup::Controller::cpu, node.pods.is_v2() ? "cpu.max.burst" : "cpu.cfs_burst_us"),
                {"10000"});
  }
}

inline void expect_quota(Sessions& node) {
  node.expect(node.quota_file(node.pods.besteffort), {node.pods.is_v2() ? "2000 100000" : "2000"});
}

// On v2 the kernel does not remove a cpuset while tasks run. With four or more CPUs, the set depends on the topology.
inline void expect_set(Sessions& node) {
  if (!node.pods.is_v2() && node.pods.cpus() > 1 && node.pods.cpus() < 4)
    node.expect(node.file(node.pods.batch, cgroup::Controller::cpuset, "cpuset.cpus"), {"0"});
}

inline void expect_memory(Sessions& node) {
  for (const RealCgroup* cgroup : {&node.pods.service_pod, &node.pods.service}) {
    node.expect(node.file(*cgroup, cgroup::Controller::memory, "memory.min"), {"33554432"});
    node.expect(node.file(*cgroup, cgroup::Controller::memory, "memory.low"), {"67108864"});
    node.expect(node.file(*cgroup, cgroup::Controller::memory, "memory.oom.group"), {"1"});
  }
  node.expect(node.file(node.pods.service, cgroup::Controller::memory, "memory.high"), {"100663296"});
}

inline void expect_system(Sessions& node) {
  node.expect(node.folder / "proc/sys/vm/min_free_kbytes", {"83886"});
  node.expect(node.folder / "proc/sys/vm/watermark_scale_factor", {"150"});
  node.expect(node.folder / "sys/kernel/mm/memcg_reaper/reap_background", {"1"});
}

struct Row {
  const char* strategy;
  Sessions::Given given;
  void (*expect)(Sessions&);
};

inline Sessions::Given given(const char* strategy, const std::string& slo, const char* config, const char* config_again,
                             const char* gates = "") {
  return {.plugins = {strategy}, .gates = gates, .node_slo = spec(slo), .config = config, .config_again = config_again};
}

inline Row burst() {
  return {"qos-cpu-burst", given("qos-cpu-burst", kBurst, "windowSeconds: 5", "windowSeconds: 6"), expect_burst};
}
inline Row quota() {
  return {"qos-cpu-suppress by cfsQuota", given("qos-cpu-suppress", kQuota, "holdSeconds: 30", "holdSeconds: 31"),
          expect_quota};
}
inline Row set() {
  return {"qos-cpu-suppress by cpuset", given("qos-cpu-suppress", kSet, "holdSeconds: 30", "holdSeconds: 31"),
          expect_set};
}
inline Row memory() {
  return {"qos-cgroup-reconcile",
          given("qos-cgroup-reconcile", "resourceQOSStrategy: " + spec(kMemory), "", "", "CgroupReconcile=true"),
          expect_memory};
}
inline Row system_knobs() {
  return {"qos-system", given("qos-system", kSystem, "", "", "SystemConfig=true"), expect_system};
}

inline void check_undone(Sessions& node) {
  node.set_node_slo(kOff);
  CHECK_MESSAGE(node.becomes_as_before(), node.differences());
  CHECK_MESSAGE(node.outside() == "", node.outside());
}

// Begins with an undisturbed session that reaches the target.
inline void check_property(const Row& row) {
  Sessions node(row.given);
  row.expect(node);
  if (node.expected() == 0) {
    MESSAGE("left out here, this kernel has none of its files: " << std::string(row.strategy));
    return;
  }
  REQUIRE(node.start());
  REQUIRE_MESSAGE(node.settles(), node.unsettled() << node.agent->log());
  for (const Interruption interruption : kInterruptions) {
    INFO("after " << name_of(interruption));
    node.interrupt(interruption);
    CHECK_MESSAGE(node.settles(), node.unsettled());
    CHECK_MESSAGE(node.outside() == "", node.outside());
  }
  check_undone(node);
  node.set_node_slo(row.given.node_slo);
  CHECK_MESSAGE(node.settles(), node.unsettled());
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
}

}  // namespace koord::test
