// SPDX-License-Identifier: Apache-2.0
// Container statuses that differ from the specs. The kubelet can write a smaller limit while burst is enforced, and a
// limit that a hook set in the runtime is not the base for burst.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/composed/strategy_rows.hpp"
#include "test/support/eventually.hpp"

using namespace koord::test;
using koord::cgroup::Controller;

namespace {

constexpr auto kLong = std::chrono::minutes(1);
constexpr const char* kRatio = "{node.koordinator.sh/cpu-normalization-ratio: \"1.25\"}";
constexpr const char* kStaticBurst = "cpuBurstStrategy: {policy: cpuBurstOnly, cpuBurstPercent: 100}";

std::string quota_text(const Sessions& node, const std::string& microseconds) {
  return node.pods.is_v2() ? microseconds + " 100000" : microseconds;
}

std::string burst_file(const Sessions& node, const RealCgroup& cgroup) {
  return node.file(cgroup, Controller::cpu, node.pods.is_v2() ? "cpu.max.burst" : "cpu.cfs_burst_us");
}

std::string text_of(const std::string& path) {
  return std::string(koord::trim(koord::read_file(path).value_or("(unreadable)")));
}

// The file of pods, and the kubelet's report about the service's container.
struct Pods {
  Sessions& node;
  std::string path = node.folder / "pods.yaml", whole = koord::read_file(path).value();

  void replace(const std::string& before, const std::string& after) {
    const std::size_t at = whole.find(before);
    REQUIRE(at != std::string::npos);
    whole.replace(at, before.size(), after);
  }
  void report(const std::string& limits, const std::string& condition = {}) const {
    std::string pods = whole;
    const std::string phase = "phase: Running\n", state = "state: {running: {}}";
    std::size_t at = pods.find(phase, pods.find("uid: service")) + phase.size();
    if (!condition.empty()) pods.insert(at, "    conditions: [{type: " + condition + ", status: \"True\"}]\n");
    at = pods.find(state, at);
    pods.insert(at, "resources: {limits: " + limits + "}, ");
    REQUIRE(koord::write_file_atomically(path, pods));
  }
};

// Lowers the limit from 200m to 100m as a kubelet does: first the container's quota, then the pod's.
void check_shrink(const std::string& burst, const char* quota_before, const char* quota_after) {
  CAPTURE(burst);
  Sessions node({.plugins = {"qos-cpu-burst"}, .node_slo = spec(burst), .service_limit = "200m"});
  for (const RealCgroup* cgroup : {&node.pods.service_pod, &node.pods.service}) {
    node.expect(burst_file(node, *cgroup), {"20000"});
    node.expect(node.quota_file(*cgroup), {quota_text(node, quota_before)});
  }
  REQUIRE(node.start());
  REQUIRE_MESSAGE(node.settles(), node.unsettled() << node.agent->log());
  const std::string limit = quota_text(node, "10000");
  CHECK_FALSE(koord::write_value(node.quota_file(node.pods.service), limit));  // the kernel refuses it: below the burst
  Pods pods{node};
  pods.replace("limits: {cpu: 200m", "limits: {cpu: 100m");
  pods.report("{cpu: 200m, memory: 128Mi}", "PodResizeInProgress");
  // v1 refuses a pod quota below the quota of a container, and the container's quota is raised again meanwhile.
  std::vector<const RealCgroup*> written{&node.pods.service};
  if (node.pods.is_v2() || std::string_view(quota_after) == "10000") written.push_back(&node.pods.service_pod);
  for (const RealCgroup* cgroup : written)
    CHECK_MESSAGE(eventually([&] { return koord::write_value(node.quota_file(*cgroup), limit).has_value(); }, kLong),
                  node.agent->ctl({"why", "default/service"}).output);
  pods.report("{cpu: 100m, memory: 128Mi}");
  const auto becomes = [](const std::string& path, const std::string& text) {
    CAPTURE(path);
    CHECK_MESSAGE(eventually([&] { return text_of(path) == text; }, kLong), text_of(path));
  };
  for (const RealCgroup* cgroup : {&node.pods.service_pod, &node.pods.service}) {
    becomes(burst_file(node, *cgroup), "10000");
    becomes(node.quota_file(*cgroup), quota_text(node, quota_after));
  }
  CHECK(node.agent->stop() == 0);
  for (const RealCgroup* cgroup : {&node.pods.service_pod, &node.pods.service}) {
    CHECK(text_of(burst_file(node, *cgroup)) == "0");
    CHECK(text_of(node.quota_file(*cgroup)) == limit);
  }
}

// Checks this in the middle of a session and from the start of a session.
void check_unchanged(Sessions& node, const std::string& limits) {
  REQUIRE(node.start());
  REQUIRE_MESSAGE(node.settles(), node.unsettled() << node.agent->log());
  Pods{node}.report(limits);
  CHECK_MESSAGE(node.settles(), node.unsettled());
  node.interrupt(Interruption::sigkill);
  CHECK_MESSAGE(node.settles(), node.unsettled());
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
}

}  // namespace

TEST_CASE("a smaller limit that the kubelet has accepted can be written soon, although burst is enforced") {
  check_shrink(kStaticBurst, "20000", "10000");
  check_shrink(kBurst, "40000", "20000");
}

TEST_CASE("a normalized limit in a container's status is not normalized again") {
  Sessions node({.plugins = {"qos-cpu-burst", "hook-cpu-normalization"},
                 .gates = "CPUNormalization=true",
                 .node_slo = kOff,
                 .node_annotations = kRatio});
  for (const RealCgroup* cgroup : {&node.pods.service_pod, &node.pods.service})
    node.expect(node.quota_file(*cgroup), {quota_text(node, "8000")});
  check_unchanged(node, "{cpu: 80m, memory: 128Mi}");
}
