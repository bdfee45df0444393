// SPDX-License-Identifier: Apache-2.0
// Caps of a class, and the cgroups below it.
#include "pods_with_roles.hpp"

using namespace koord;
using namespace koord::decision;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

struct SetsOnV1 : PodsWithRoles {
  SetsOnV1() : PodsWithRoles({{"cgroup/cpuset/cpuset.cpus", "0-3\n"}, {"sys/devices/system/cpu/online", "0-3\n"}}) {
    for (const auto& [dir, cpus] :
         {std::pair("be", "0-3"), {"be/pod", "0-3"}, {"be/pod/a", "0-3"}, {"be/pod/b", "1,3"}})
      node.write("cgroup/cpuset/" + std::string(dir) + "/cpuset.cpus", std::string(cpus) + "\n");
  }
  std::string read(const std::string& dir) const {
    return std::string(trim(*read_file(node.path("cgroup/cpuset/" + dir + "/cpuset.cpus"))));
  }
  std::string all() const {
    return read("be") + " " + read("be/pod") + " " + read("be/pod/a") + " " + read("be/pod/b");
  }
};

}  // namespace

TEST_CASE_FIXTURE(OnV2, "on v2 a cap of the class leaves the cgroups inside alone") {
  propose("suppress", {intent(Role::cap, "be", "30000 100000")});
  CHECK(read("be") == "30000 100000");
  CHECK(read("be/pod/a") == "100000 100000");
}

TEST_CASE_FIXTURE(OnV1, "on v1 a cap of the class caps the cgroups inside, and ends with it") {
  propose("suppress", {intent(Role::cap, "be", "80000 100000")});
  CHECK(all() == "80000 80000 80000 50000");
  CHECK(composition("be/pod") == "cpu.max 80000 100000 = base 150000 (limit 1500m), cap 80000 (suppress on be)");
  propose("suppress", {intent(Role::cap, "be", "30000 100000")});
  CHECK(all() == "30000 30000 30000 30000");
  propose("suppress", {intent(Role::cap, "be", "60000 100000")});
  CHECK(all() == "60000 60000 60000 50000");
  withdraw("suppress");
  CHECK(all() == "-1 150000 100000 50000");
  CHECK(governor->held() == 0);
}

TEST_CASE_FIXTURE(OnV1, "the effects of a cap on the cgroups inside are recorded with its reason, once") {
  propose("suppress", {intent(Role::cap, "be", "80000 100000")});
  for (int i = 0; i < 5; ++i) propose("suppress", {intent(Role::cap, "be", "80000 100000")}), seconds(50);
  std::size_t count = 0;
  for (const Decision& one : governor->decisions()) {
    if (one.cgroup_dir != "be/pod/a") continue;
    ++count;
    CHECK(one.plugin == "suppress");
    CHECK(one.outcome == Outcome::applied);
    CHECK(one.reason == "'be' is capped at 80000 100000, and the kernel allows no more inside of it");
    CHECK(one.before == "100000 100000");
    CHECK(one.after == "80000 100000");
    CHECK(one.container == "a");
  }
  CHECK(count == 1);
}

TEST_CASE_FIXTURE(
    OnV1,
    "the effects that a cap in shadow would have on the cgroups inside are recorded once, and nothing is written") {
  governor->set_mode("suppress", Mode::shadow);
  for (int i = 0; i < 5; ++i) propose("suppress", {intent(Role::cap, "be", "80000 100000")}), seconds(50);
  CHECK(all() == "-1 150000 100000 50000");
  std::vector<std::string> inside;
  for (const Decision& one : governor->decisions()) {
    if (one.cgroup_dir == "be") continue;
    inside.push_back(one.cgroup_dir + " " + one.before + " -> " + one.wanted);
    CHECK(one.plugin == "suppress");
    CHECK(one.outcome == Outcome::shadow);
    CHECK(one.reason == "'be' is capped at 80000 100000, and the kernel allows no more inside of it");
  }
  CHECK(inside ==
        std::vector<std::string>{"be/pod 150000 100000 -> 80000 100000", "be/pod/a 100000 100000 -> 80000 100000"});
  propose("suppress", {intent(Role::cap, "be", "30000 100000")});
  CHECK(last().outcome == Outcome::shadow);
  CHECK(last().cgroup_dir == "be/pod/b");
  withdraw("suppress");
  CHECK(governor->held() == 0);
}

TEST_CASE_FIXTURE(SetsOnV1, "on v1 a cap of the class's CPU set reaches the cgroups inside, and ends with it") {
  propose("suppress", {intent(Role::cap, "be", "0-1", "cpuset.cpus")});
  CHECK(all() == "0-1 0-1 0-1 1");
  CHECK(composition("be/pod/a") == "cpuset.cpus 0-1 = original 0-3, cap 0-1 (suppress on be)");
  propose("suppress", {intent(Role::cap, "be", "1-2", "cpuset.cpus")});
  CHECK(all() == "1-2 1-2 1-2 1");
  withdraw("suppress");
  CHECK(all() == "0-3 0-3 0-3 1,3");
  CHECK(governor->held() == 0);
}

TEST_CASE_FIXTURE(SetsOnV1, "a CPU set that the kubelet writes below a cap is capped, and restored when the cap ends") {
  const auto suppress = [&] { propose("suppress", {intent(Role::cap, "be", "0-1", "cpuset.cpus")}); };
  suppress();
  node.write("cgroup/cpuset/be/pod/a/cpuset.cpus", "0,2-3\n");  // a different pod got CPU 1 exclusively
  for (int i = 0; i < 70; ++i) suppress(), seconds(1);
  CHECK(all() == "0-1 0-1 0 1");
  CHECK(composition("be/pod/a") == "cpuset.cpus 0 = original 0,2-3, cap 0-1 (suppress on be)");
  withdraw("suppress");
  CHECK(all() == "0-3 0-3 0,2-3 1,3");
}

TEST_CASE_FIXTURE(SetsOnV1, "caps of CPU sets at two levels leave what both allow") {
  propose("suppress", {intent(Role::cap, "be", "0-2", "cpuset.cpus")});
  propose("other", {intent(Role::cap, "be/pod", "1-3", "cpuset.cpus")});
  CHECK(all() == "0-2 1-2 1-2 1");
  withdraw("suppress");
  CHECK(all() == "0-3 1-3 1-3 1,3");
}

TEST_CASE_FIXTURE(OnV1, "a scale inside of a capped class is capped, and a withdrawn scale stays below the cap") {
  propose("burst", {intent(Role::scale, "be/pod/b", "2")});
  CHECK(all() == "-1 200000 100000 100000");
  propose("suppress", {intent(Role::cap, "be", "80000 100000")});
  CHECK(all() == "80000 80000 80000 80000");
  CHECK(reported["burst"].back().winner == "suppress");
  withdraw("burst");
  CHECK(all() == "80000 80000 80000 50000");
  withdraw("suppress");
  CHECK(all() == "-1 150000 100000 50000");
}

TEST_CASE_FIXTURE(OnV1, "an agent that was killed while a class was capped goes on with it, and reverts all of it") {
  propose("suppress", {intent(Role::cap, "be", "80000 100000")});
  begin();
  propose("suppress", {intent(Role::cap, "be", "80000 100000")});
  seconds(40);
  CHECK(all() == "80000 80000 80000 50000");
  withdraw("suppress");
  CHECK(all() == "-1 150000 100000 50000");
}

TEST_CASE_FIXTURE(OnV1, "a pod with hands off is not capped by its class") {
  hands_off.all = true;
  know_pods();
  propose("suppress", {intent(Role::cap, "be", "80000 100000")});
  CHECK(all() == "-1 150000 100000 50000");
  CHECK(reported["suppress"].back().outcome == Outcome::failed);
  CHECK(last().problem.starts_with("less than is used inside of it: 'be/pod"));
  hands_off.all = false;
  know_pods();
  seconds(1);
  CHECK(all() == "80000 80000 80000 50000");
}

TEST_CASE_FIXTURE(OnV1, "a set of the class is not a cap, and is refused while more is used inside") {
  propose("old", {intent(Role::set, "be", "80000 100000")});
  CHECK(all() == "-1 150000 100000 50000");
  CHECK(reported["old"].back().outcome == Outcome::failed);
}

TEST_CASE_FIXTURE(OnV1, "the end of the agent reverts caps of all levels") {
  propose("suppress", {intent(Role::cap, "be", "30000 100000")});
  CHECK(governor->stop().size() == 4);
  CHECK(all() == "-1 150000 100000 50000");
}

TEST_CASE_FIXTURE(OnV1,
                  "a pod with hands off from one plugin is not capped by its class, whatever others propose for it") {
  hands_off.names = {"suppress"};
  know_pods();
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  propose("suppress", {intent(Role::cap, "be", "80000 100000")});
  CHECK(all() == "-1 200000 150000 50000");
}

TEST_CASE_FIXTURE(OnV1, "hands off while the class is capped reverts what the cap did to the pod, and lifts the cap") {
  propose("suppress", {intent(Role::cap, "be", "80000 100000")});
  CHECK(all() == "80000 80000 80000 50000");
  hands_off.all = true;
  know_pods();
  seconds(2);
  CHECK(all() == "-1 150000 100000 50000");
  CHECK(governor->active_intents_by_result().at(Outcome::failed) == 1);
}

TEST_CASE_FIXTURE(OnV1, "a class that cannot be capped for a pod with hands off does not cap the other pods") {
  hands_off.all = true;
  know_pods();
  write("be/other", "120000");
  propose("suppress", {intent(Role::cap, "be", "80000 100000")});
  CHECK(all() == "-1 150000 100000 50000");
  CHECK(read("be/other") == "120000");
}

TEST_CASE_FIXTURE(
    OnV1, "a limit that changes below a cap is what a killed agent's successor reverts to, though it knows no pod") {
  propose("suppress", {intent(Role::cap, "be", "80000 100000")});
  of_a.cpu_milli = 2000;
  know_pods();
  governor.reset();
  governor = std::make_unique<Governor>(clock, *cgroup::Layout::detect(node.roots()), node.roots(), originals);
  governor->set_node_mode(Mode::enforce);
  seconds(1);
  CHECK(all() == "-1 250000 200000 50000");
}
