// SPDX-License-Identifier: Apache-2.0
// qos-cpu-burst with its factor enforced, beside bases, factors, caps and sets of other plugins. Checks the factor, and
// the container's value.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/knob/governor.hpp"
#include "test/support/fake_samples.hpp"
#include "test/support/made_intent.hpp"

using namespace koord;
using namespace koord::knob;
using koord::decision::Role;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using koord::test::FakeSamples;
using namespace std::chrono_literals;

namespace {

constexpr const char* kPod = "kubepods/podu1";
constexpr const char* kContainer = "kubepods/podu1/c1";
constexpr const char* kUpToThree =
    R"({"cpuBurstStrategy": {"policy": "cfsQuotaBurstOnly", "cfsQuotaBurstPercent": 300,
  "cfsQuotaBurstPeriodSeconds": -1, "sharePoolThresholdPercent": 100}})";
constexpr int kSettled = 10;  // the factor reaches 3 within this number of rounds

state::Pod pod_of_two_cores() {
  state::Pod pod;
  pod.uid = "u1", pod.namespace_ = "shop", pod.name = "cart";
  pod.koord_qos = state::KoordQos::ls;
  pod.phase = state::Phase::running;
  pod.cgroup_dir = kPod;
  pod.resources = {{"cpu", 1000, 2000}};
  state::Container container;
  container.id = "containerd://c1", container.name = "web";
  container.state = state::ContainerState::running;
  container.cgroup_dir = kContainer;
  container.resources = pod.resources;
  pod.containers = {container};
  return pod;
}

state::Topology eight_cpus() {
  state::Topology topology;
  for (int cpu = 0; cpu < 8; ++cpu) topology.cpus.push_back({.cpu = cpu, .online = true});
  return topology;
}

// A container that is always throttled by its quota, on a node without other load.
class ThrottledContainer {
 public:
  ThrottledContainer() {
    host_.hub().publish({.pods = std::vector{pod_of_two_cores()}, .node_slo = kUpToThree, .topology = eight_cpus()});
    Subjects subjects;
    subjects.set_quota_rules({.is_known = true});
    Subject container{"u1", "shop", "cart", "web"}, pod{"u1", "shop", "cart"};
    container.limits.cpu_milli = pod.limits.cpu_milli = 2000;
    pod.containers = {kContainer};
    subjects.add(kContainer, container);
    subjects.add(kPod, pod);
    governor_.set_node_mode(Mode::enforce);
    governor_.set_subjects(std::make_shared<const Subjects>(std::move(subjects)));
    REQUIRE(strategy_.init() == KOORD_OK);
  }

  // Runs one second of the agent.
  void round() {
    host_.clock().advance(1s);
    samples_.add("node_cpu_usage", 0.1);
    samples_.add("container_cpu_throttled", 1, host_.hub().current()->pods[0].containers[0].handle);
    REQUIRE(strategy_.evaluate() == KOORD_OK);
    governor_.take(
        {"qos-cpu-burst", "cpu-burst"}, host_.context().take_plan(),
        [this](std::vector<IntentResult> results) { results_.insert(results_.end(), results.begin(), results.end()); });
    governor_.expire();
    REQUIRE(strategy_.on_applied(std::exchange(results_, {})) == KOORD_OK);
  }
  void rounds(int count) {
    for (int i = 0; i < count; ++i) round();
  }

  void propose(const std::string& plugin, Role role, const std::string& value) {
    Intent intent = test::made_intent("cpu.max", value, role);
    intent.level = decision::Level::container;
    intent.cgroup_dir = kContainer;
    intent.reason = "the test asks for it";
    intent.ttl = 1h;
    governor_.take({plugin, "main"}, {intent}, [](const auto&) {});
  }
  void withdraw(const std::string& plugin) { governor_.withdraw({plugin, "main"}); }

  std::string quota() const {
    return std::string(trim(*read_file(node_.path("cgroup/" + std::string(kContainer) + "/cpu.max"))));
  }
  std::string composition() const {
    for (const KnobView& view : governor_.knobs())
      if (view.cgroup_dir == kContainer && view.knob == "cpu.max") return view.composition;
    return "no value is composed";
  }

 private:
  FakeNode node_{{{"cgroup/cgroup.controllers", "cpu\n"},
                  {"cgroup/kubepods/podu1/cpu.max", "200000 100000\n"},
                  {"cgroup/kubepods/podu1/c1/cpu.max", "200000 100000\n"}}};
  FakeHost host_{node_};
  FakeSamples samples_{host_};
  FakeInstance strategy_{host_, koord_entry_v1()};
  MemoryOriginals originals_;
  Governor governor_{host_.clock(), *cgroup::Layout::detect(node_.roots()), node_.roots(), originals_};
  std::vector<IntentResult> results_;
};

struct OtherPart {
  std::string plugin;
  Role role;
  std::string value;
};

}  // namespace

TEST_CASE("base, factor and cap of other plugins leave the factor of the burst the same, in whatever order they come") {
  std::vector<OtherPart> parts = {{"cap", Role::cap, "400000 100000"},
                                  {"hook", Role::base, "240000 100000"},
                                  {"normalization", Role::scale, "0.8"}};
  do {
    for (const int between : {0, 2, kSettled}) {
      INFO(parts[0].plugin << " " << parts[1].plugin << " " << between);
      ThrottledContainer container;
      for (const OtherPart& part : parts) {
        container.rounds(between);
        container.propose(part.plugin, part.role, part.value);
      }
      container.rounds(kSettled);
      std::set<std::string> seen;
      for (int i = 0; i < kSettled; ++i) container.round(), seen.insert(container.composition());
      CHECK(seen == std::set<std::string>{
                        "cpu.max 400000 100000 = base 240000 (hook) × 0.8 (normalization) × 3 (qos-cpu-burst), "
                        "cap 400000 (cap)"});
      CHECK(container.quota() == "400000 100000");
    }
  } while (std::next_permutation(parts.begin(), parts.end(),
                                 [](const auto& one, const auto& other) { return one.plugin < other.plugin; }));
}

TEST_CASE("when the cap of another plugin ends, the quota is limit x factor at once") {
  ThrottledContainer container;
  container.propose("cap", Role::cap, "100000 100000");
  container.rounds(kSettled);
  CHECK(container.quota() == "100000 100000");
  container.withdraw("cap");
  CHECK(container.quota() == "600000 100000");
}

TEST_CASE("while a set of another plugin replaces the factor it does not grow, and afterwards it starts at 1 again") {
  ThrottledContainer container;
  container.rounds(kSettled);
  CHECK(container.quota() == "600000 100000");
  container.propose("old", Role::set, "150000 100000");
  container.rounds(kSettled);
  CHECK(container.quota() == "150000 100000");
  container.withdraw("old");
  CHECK(container.quota() == "240000 100000");
  container.rounds(kSettled);
  CHECK(container.quota() == "600000 100000");
}
