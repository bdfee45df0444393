// SPDX-License-Identifier: Apache-2.0
// Runtime hooks that place pods on CPUs, with this kernel's files: enforced and interrupted, in shadow mode, and with
// the gate off.
#include <doctest/doctest.h>

#include <string>

#include "test/composed/sessions.hpp"
#include "test/support/eventually.hpp"

using namespace koord::test;
using koord::cgroup::Controller;

namespace {

constexpr const char* kOwnCpu = R"({scheduling.koordinator.sh/resource-status: '{"cpuset":"1"}'})";
constexpr const char* kReservedCpu = R"({node.koordinator.sh/reservation: '{"reservedCPUs":"0"}'})";
constexpr const char* kNothing = "{cpuBurstStrategy: {policy: none}}";

// CPU burst has no effect here. The test uses it to count rounds.
Sessions::Given with_cpuset() {
  return {.plugins = {"qos-cpu-burst", "hook-cpuset"}, .gates = "CPUSetAllocator=true", .node_slo = kNothing};
}

bool has_two_cpus(const Sessions& node) {
  if (node.pods.cpus() > 1) return true;
  MESSAGE("left out here: this machine has one CPU");
  return false;
}

std::string cpus_file(const Sessions& node, const RealCgroup& cgroup) {
  return node.file(cgroup, Controller::cpuset, "cpuset.cpus");
}

void check_interruptions(Sessions& node) {
  REQUIRE(node.start());
  REQUIRE_MESSAGE(node.settles(), node.unsettled() << node.agent->log());
  for (const Interruption interruption : kInterruptions) {
    INFO("after " << name_of(interruption));
    node.interrupt(interruption);
    CHECK_MESSAGE(node.settles(), node.unsettled());
    CHECK_MESSAGE(node.outside() == "", node.outside());
  }
}

// After a crash the values stay. The next agent starts with the hook's gate off and restores them.
void check_gate_off(Sessions& node, const std::string& gates) {
  node.kill();
  node.set_gates(gates);
  REQUIRE(node.start());
  CHECK_MESSAGE(node.becomes_as_before(), node.differences());
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
}

void check_shadow(Sessions::Given given, const std::string& hook, void (*expect)(Sessions&)) {
  given.mode = "shadow";
  Sessions node(given);
  expect(node);
  REQUIRE(node.start());
  std::string why;
  CHECK_MESSAGE(eventually(
                    [&] {
                      why = node.agent->ctl({"why", "default/service"}).output;
                      return why.find(hook) != std::string::npos;
                    },
                    std::chrono::minutes(1)),
                why);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
}

void expect_own_cpu(Sessions& node) {
  node.expect(cpus_file(node, node.pods.service), {"1"});
  for (const RealCgroup* cgroup : {&node.pods.service_pod, &node.pods.service})
    node.expect(node.quota_file(*cgroup), {node.pods.is_v2() ? "max 100000" : "-1"});
}

constexpr const char* kIdentities =
    "{cpuBurstStrategy: {policy: none}, resourceQOSStrategy: {beClass: {cpuQOS: {enable: true, groupIdentity: -1}}}}";

// A BE pod with CPU requests is in the cgroup of burstable pods.
Sessions::Given with_identities() {
  return {.plugins = {"qos-cpu-burst", "hook-group-identity"},
          .gates = "GroupIdentity=true",
          .node_slo = kIdentities,
          .service_qos = "BE"};
}

void expect_idle(Sessions& node) { node.expect(node.file(node.pods.service_pod, Controller::cpu, "cpu.idle"), {"1"}); }

}  // namespace

TEST_CASE("an LSR pod runs on its CPU without a quota after any interruption; the gate off restores both files") {
  Sessions::Given given = with_cpuset();
  given.service_qos = "LSR";
  given.service_annotations = kOwnCpu;
  Sessions node(given);
  if (!has_two_cpus(node)) return;
  expect_own_cpu(node);
  check_interruptions(node);
  const std::string why = node.agent->ctl({"why", "default/service"}).output;
  CHECK_MESSAGE(why.find("hook-cpuset") != std::string::npos, why);
  check_gate_off(node, "CPUSetAllocator=false");
}

TEST_CASE("an LS pod runs on the CPUs that are not reserved, and keeps its quota") {
  Sessions::Given given = with_cpuset();
  given.node_annotations = kReservedCpu;
  Sessions node(given);
  if (!has_two_cpus(node)) return;
  if (node.pods.cpus() == 2) node.expect(cpus_file(node, node.pods.service), {"1"});
  node.expect(node.quota_file(node.pods.service), {node.pods.is_v2() ? "10000 100000" : "10000"});
  check_interruptions(node);
  check_gate_off(node, "CPUSetAllocator=false");
}

TEST_CASE("in shadow mode an LSR pod's CPUs are recorded and not written") {
  Sessions::Given given = with_cpuset();
  given.service_qos = "LSR";
  given.service_annotations = kOwnCpu;
  check_shadow(given, "hook-cpuset", expect_own_cpu);
}

TEST_CASE("a BE pod in the burstable class is idle after any interruption; the gate off restores its shares") {
  Sessions node(with_identities());
  expect_idle(node);
  if (node.expected() == 0) {
    MESSAGE("left out here: this kernel has no cpu.idle");
    return;
  }
  check_interruptions(node);
  const std::string why = node.agent->ctl({"why", "default/service"}).output;
  CHECK_MESSAGE(why.find("hook-group-identity") != std::string::npos, why);
  check_gate_off(node, "GroupIdentity=false");
}

TEST_CASE("in shadow mode a BE pod's priority is recorded and not written") {
  check_shadow(with_identities(), "hook-group-identity", expect_idle);
}
