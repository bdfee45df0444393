// SPDX-License-Identifier: Apache-2.0
// Composed values on this machine's kernel: a class with a cap, and pods with limits that the agent scales.
#include <memory>

#include "test/core/knob/governed_node.hpp"
#include "test/support/run_with_cgroups.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr int kPods = 10;

// A class (the fixture's pod) with ten pods that have limits and one container each.
struct LimitedPods : GovernedNode {
  struct Limited {
    RealCgroup pod, app;
    Limited(const RealCgroup& around, const std::string& name) : pod(around, name), app(pod, "app") {}
  };
  std::vector<std::unique_ptr<Limited>> pods;

  LimitedPods() {
    for (int i = 0; i < kPods; ++i) {
      Limited& one = *pods.emplace_back(std::make_unique<Limited>(pod, "limited" + std::to_string(i)));
      write_quota(one.pod, limit_us(i));
      write_quota(one.app, limit_us(i));
    }
    know_pods();
  }
  static int limit_us(int i) { return 10'000 * (i + 1); }
  void know_pods() {
    Subjects subjects;
    for (int i = 0; i < kPods; ++i) {
      const std::string uid = "u" + std::to_string(i);
      const SpecLimits limits{limit_us(i) / 100, {}};
      subjects.add(pods[static_cast<std::size_t>(i)]->app.dir(), {uid, "shop", uid, "app", {}, false, limits});
      subjects.add(pods[static_cast<std::size_t>(i)]->pod.dir(),
                   {uid, "shop", uid, {}, {}, false, limits, {pods[static_cast<std::size_t>(i)]->app.dir()}});
    }
    governor->set_subjects(std::make_shared<const Subjects>(std::move(subjects)));
  }
  static Intent with_role(Role role, const RealCgroup& cgroup, std::string value) {
    return minute_intent(Level::pod, "cpu.max", cgroup.dir(), std::move(value), 0, role);
  }
  // Checks that all pods and containers have this quota, or their limit if it is lower.
  void check_at_most(int quota_us) const {
    for (int i = 0; i < kPods; ++i) {
      const std::string expected = std::to_string(std::min(quota_us, limit_us(i))) + " 100000";
      CHECK(read(pods[static_cast<std::size_t>(i)]->pod, "cpu.max") == expected);
      CHECK(read(pods[static_cast<std::size_t>(i)]->app, "cpu.max") == expected);
    }
  }
};

constexpr int kUncapped = 1 << 30;

}  // namespace

TEST_CASE_FIXTURE(
    LimitedPods,
    "cfsQuota suppression with ten limited pods: the cap of the class is applied to them if the kernel requires it") {
  const std::string before = read(pod, "cpu.max");
  for (const int cap : {60'000, 35'000, 12'000, 45'000, 80'000}) {
    CAPTURE(cap);
    propose("suppress", {with_role(Role::cap, pod, std::to_string(cap) + " 100000")});
    CHECK(last_reported("suppress").outcome == Outcome::applied);
    CHECK(read(pod, "cpu.max") == std::to_string(cap) + " 100000");
    check_at_most(is_v1() ? cap : kUncapped);
    clock.advance(1s);
    governor->expire();
  }
  CHECK(decisions(Outcome::failed).empty());
  governor->withdraw({"suppress", "main"});
  CHECK(read(pod, "cpu.max") == before);
  check_at_most(kUncapped);
  CHECK(governor->held() == 0);
  CHECK(journal->size() == 0);
}

TEST_CASE_FIXTURE(LimitedPods,
                  "after kills of the agent a class has its cap again, and all is as before when the strategy is off") {
  const std::string before = read(pod, "cpu.max");
  const Plan plan{with_role(Role::cap, pod, "25000 100000")};
  for (int i = 0; i < 5; ++i) {
    propose("suppress", plan);
    for (int s = 0; s < 35; ++s) second("suppress", plan);
    CHECK(read(pod, "cpu.max") == "25000 100000");
    check_at_most(is_v1() ? 25'000 : kUncapped);
    begin();
    know_pods();
  }
  for (int s = 0; s < 35; ++s) {
    clock.advance(1s);
    governor->expire();
  }
  CHECK(read(pod, "cpu.max") == before);
  check_at_most(kUncapped);
}

TEST_CASE_FIXTURE(LimitedPods, "scales below a cap that comes and goes: the kernel takes every write") {
  const RealCgroup& container = pods[2]->app;
  propose("burst", {with_role(Role::scale, container, "3")});
  CHECK(read(container, "cpu.max") == "90000 100000");
  CHECK(read(pods[2]->pod, "cpu.max") == "90000 100000");
  propose("suppress", {with_role(Role::cap, pod, "40000 100000")});
  CHECK(read(container, "cpu.max") == (is_v1() ? "40000 100000" : "90000 100000"));
  governor->withdraw({"suppress", "main"});
  CHECK(read(container, "cpu.max") == "90000 100000");
  governor->withdraw({"burst", "main"});
  check_at_most(kUncapped);
  CHECK(decisions(Outcome::failed).empty());
}

TEST_CASE_FIXTURE(
    GovernedNode,
    "a cap of the CPU set of a class with pods inside: the kernel of v1 takes it with theirs, and all is as before afterwards") {
  if (!files.is_nested(*find_knob("cpuset.cpus")) || read(pod, "cpuset.cpus") == "0") return;
  const std::string before = read(pod, "cpuset.cpus");
  REQUIRE(read(app, "cpuset.cpus") == before);
  const Intent cap = minute_intent(Level::pod, "cpuset.cpus", pod.dir(), "0", 0, Role::cap);
  propose("suppress", {cap});
  CHECK(last_reported("suppress").outcome == Outcome::applied);
  CHECK(read(pod, "cpuset.cpus") == "0");
  CHECK(read(app, "cpuset.cpus") == "0");
  begin();  // the state is the same as after SIGKILL
  propose("suppress", {cap});
  CHECK(read(app, "cpuset.cpus") == "0");
  governor->withdraw({"suppress", "main"});
  CHECK(read(pod, "cpuset.cpus") == before);
  CHECK(read(app, "cpuset.cpus") == before);
  CHECK(governor->held() == 0);
}

TEST_CASE_FIXTURE(GovernedNode, "a cgroup that is recreated between the read and the write gets nothing") {
  auto svc = std::make_unique<RealCgroup>(pod, "svc");
  meanwhile->run = [&] {
    svc.reset();
    svc = std::make_unique<RealCgroup>(pod, "svc");
  };
  const std::string fresh = read(*svc, "cpu.max");
  propose("suppress", {intent(*svc, "cpu.max", "20000 100000")});
  CHECK(last_reported("suppress").outcome == Outcome::gone);
  CHECK(read(*svc, "cpu.max") == fresh);
  CHECK(governor->held() == 0);
  CHECK(journal->size() == 0);
}

int main(int argc, char** argv) { return koord::test::run_with_cgroups(argc, argv); }
