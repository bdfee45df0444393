// SPDX-License-Identifier: Apache-2.0
// qos-cgroup-reconcile with its intents enforced on this machine's kernel: on cgroup v2 protection and throttling are
// set in the kernel, and later the original values are restored. A mainline v1 kernel has none of these knobs and is
// not changed. The first argument is the shared object.
#include "core/base/file.hpp"
#include "test/node/enforced_strategy.hpp"
#include "test/support/child_process.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

std::string shared_object;

constexpr std::int64_t kMi = 1 << 20;

// A pod with one container that requests 64 MiB and has a limit of 128 MiB, in a directory for its class.
struct QosCgroupReconcileFixture {
  QosCgroupReconcileFixture() : strategy(shared_object, "qos-cgroup-reconcile") {
    publish(R"({"enable":true,"minLimitPercent":50,"throttlingPercent":50,"oomKillGroup":1})");
  }
  void publish(const std::string& memory_qos) {
    state::Pod pod;
    pod.uid = pod.name = "u1";
    pod.kube_qos = state::KubeQos::burstable;
    pod.koord_qos = state::KoordQos::ls;
    pod.phase = state::Phase::running;
    pod.cgroup_dir = of_pod.dir();
    pod.resources = {{"memory", 64 * kMi, 128 * kMi}};
    pod.containers.push_back({.id = "containerd://c1",
                              .name = "main",
                              .cgroup_dir = container.dir(),
                              .resources = {{"memory", 64 * kMi, 128 * kMi}}});
    strategy.host().hub().publish(
        {.pods = std::vector{pod},
         .node_slo = R"({"resourceQOSStrategy":{"lsClass":{"memoryQOS":)" + memory_qos + "}}}"});
  }
  static std::string text(const RealCgroup& cgroup, const std::string& file) {
    return read_file(cgroup.path(cgroup::Controller::memory) + "/" + file).value_or("(none)");
  }
  // Returns all proposed knobs on all levels.
  std::string knobs() const {
    std::string all;
    for (const RealCgroup* cgroup : {&of_class, &of_pod, &container})
      for (const char* file : {"memory.min", "memory.low", "memory.high", "memory.oom.group"})
        all += text(*cgroup, file);
    return all;
  }

  RealCgroup of_class{"class"}, of_pod{of_class, "pod"}, container{of_pod, "container"};
  EnforcedStrategy strategy;
};

bool is_v2() { return cgroup::Layout::detect(NodeRoots())->version(cgroup::Controller::memory) == cgroup::Version::v2; }

}  // namespace

TEST_CASE("v2: class, pod and container have the values of the NodeSLO, and without it their earlier values") {
  if (!is_v2()) return;
  QosCgroupReconcileFixture fixture;
  const std::string before = fixture.knobs();
  fixture.strategy.round(1s);
  CHECK(QosCgroupReconcileFixture::text(fixture.of_class, "memory.min") == "33554432\n");
  CHECK(QosCgroupReconcileFixture::text(fixture.of_pod, "memory.min") == "33554432\n");
  CHECK(QosCgroupReconcileFixture::text(fixture.container, "memory.min") == "33554432\n");
  CHECK(QosCgroupReconcileFixture::text(fixture.container, "memory.high") == "100663296\n");
  CHECK(QosCgroupReconcileFixture::text(fixture.of_pod, "memory.oom.group") == "1\n");
  CHECK(QosCgroupReconcileFixture::text(fixture.of_class, "memory.oom.group") == "0\n");
  fixture.publish(R"({"enable":false})");
  fixture.strategy.round(1s);
  CHECK(fixture.knobs() == before);
}

TEST_CASE("v2: memory.high of a container that uses more begins just below what it uses") {
  if (!is_v2()) return;
  QosCgroupReconcileFixture fixture;
  ChildProcess process([&] {
    fixture.container.add_process(::getpid());
    std::string memory(120 * kMi, 'x');
    ::pause();
  });
  const auto used = [&] {
    return std::atoll(QosCgroupReconcileFixture::text(fixture.container, "memory.current").c_str());
  };
  REQUIRE(eventually([&] { return used() > 120 * kMi; }, 120s));
  fixture.strategy.round(1s);
  const std::int64_t high = std::atoll(QosCgroupReconcileFixture::text(fixture.container, "memory.high").c_str());
  CHECK(high > 112 * kMi);
  CHECK(high < used());
  fixture.strategy.stop();
  CHECK(QosCgroupReconcileFixture::text(fixture.container, "memory.high") == "max\n");
}

TEST_CASE("v1: knobs that the kernel lacks are reported as such, and nothing is changed") {
  if (is_v2()) return;
  QosCgroupReconcileFixture fixture;
  if (QosCgroupReconcileFixture::text(fixture.of_pod, "memory.min") != "(none)") return;  // a v1 kernel with this knob
  const std::string before = fixture.knobs();
  fixture.strategy.round(1s);
  REQUIRE(fixture.strategy.result_of("memory.min", fixture.of_pod));
  CHECK(fixture.strategy.result_of("memory.min", fixture.of_pod)->outcome == decision::Outcome::unsupported);
  CHECK(fixture.strategy.result_of("memory.high", fixture.container)->outcome == decision::Outcome::unsupported);
  CHECK(fixture.knobs() == before);
}

int main(int argc, char** argv) { return run_with_strategy(argc, argv, shared_object); }
