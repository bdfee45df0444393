// SPDX-License-Identifier: Apache-2.0
// Values from several roles, through the governor.
#include "pods_with_roles.hpp"

using namespace koord;
using namespace koord::decision;
using namespace koord::test;
using namespace std::chrono_literals;

TEST_CASE_FIXTURE(
    OnV2, "a scale multiplies the limit of the spec, its pod makes room, and a withdrawal writes the limits back") {
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  CHECK(read("be/pod/a") == "150000 100000");
  CHECK(read("be/pod") == "200000 100000");
  CHECK(read("be/pod/b") == "50000 100000");
  CHECK(composition("be/pod/a") == "cpu.max 150000 100000 = base 100000 (limit 1) × 1.5 (burst), no cap");
  CHECK(composition("be/pod") ==
        "cpu.max 200000 100000 = base 150000 (limit 1500m), floor 200000 (its containers), no cap");
  withdraw("burst");
  CHECK(read("be/pod/a") == "100000 100000");
  CHECK(read("be/pod") == "150000 100000");
  CHECK(governor->held() == 0);
}

TEST_CASE_FIXTURE(OnV2, "the record of a decision has all parts of the value") {
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  Decision of_scale;
  for (const Decision& one : governor->decisions())
    if (one.cgroup_dir == "be/pod/a") of_scale = one;
  CHECK(of_scale.role == Role::scale);
  CHECK(of_scale.wanted == "1.5");
  CHECK(of_scale.before == "100000 100000");
  CHECK(of_scale.after == "150000 100000");
  CHECK(of_scale.composition == "cpu.max 150000 100000 = base 100000 (limit 1) × 1.5 (burst), no cap");
  CHECK(last().cgroup_dir == "be/pod");
  CHECK(last().plugin == "burst");
  CHECK(last().reason == "the containers of the pod add up to 200000 100000");
}

TEST_CASE_FIXTURE(OnV2, "a value that was raised before the agent began is not scaled again, and a revert lowers it") {
  write("be/pod/a", "300000 100000");
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  CHECK(read("be/pod/a") == "150000 100000");
  withdraw("burst");
  CHECK(read("be/pod/a") == "100000 100000");
}

TEST_CASE_FIXTURE(OnV2, "an original that was a raised value is healed by the spec") {
  governor.reset();
  const Original left[] = {{.key = {"be/pod/a", "cpu.max", {}},
                            .level = Level::container,
                            .knob = "cpu.max",
                            .cgroup = KnobFiles(*cgroup::Layout::detect(node.roots()), node.roots())
                                          .read({*find_knob("cpu.max"), "be/pod/a"})
                                          ->cgroup,
                            .texts = {"250000 100000"},
                            .written = {"300000 100000"}}};
  REQUIRE(originals.keep(left));
  write("be/pod/a", "300000 100000");
  begin();
  seconds(1);  // without a proposal
  CHECK(read("be/pod/a") == "100000 100000");
  CHECK(last().outcome == Outcome::reverted);
}

TEST_CASE_FIXTURE(OnV2, "a changed limit is applied, whatever value the file has") {
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  of_a.cpu_milli = 2000;
  know_pods();
  CHECK(read("be/pod/a") == "300000 100000");
  withdraw("burst");
  CHECK(read("be/pod/a") == "200000 100000");
}

TEST_CASE_FIXTURE(OnV2,
                  "a burst is at most the quota that the runtime writes, which has factors of hooks and no raise") {
  node.write("cgroup/be/pod/a/cpu.max.burst", "0\n");
  const auto burst = [this] { return std::string(trim(*read_file(node.path("cgroup/be/pod/a/cpu.max.burst")))); };
  propose("burst", {intent(Role::set, "be/pod/a", "100000", "cpu.max.burst"), intent(Role::scale, "be/pod/a", "1.5")});
  CHECK(read("be/pod/a") == "150000 100000");
  CHECK(burst() == "100000");
  propose("normalization", {intent(Role::scale, "be/pod/a", "0.8")});
  CHECK(read("be/pod/a") == "120000 100000");
  CHECK(burst() == "80000");
  CHECK(reported["burst"].back().outcome == Outcome::applied);
  withdraw("normalization");
  CHECK(burst() == "100000");
  of_a.cpu_milli = 600;  // the strategy does not know this limit yet
  know_pods();
  CHECK(read("be/pod/a") == "90000 100000");
  CHECK(burst() == "60000");
  propose("burst", {intent(Role::set, "be/pod/a", "100000", "cpu.max.burst")});
  CHECK(read("be/pod/a") == "60000 100000");
  CHECK(burst() == "60000");
}

TEST_CASE_FIXTURE(OnV2, "a revert because a pod has changed does not blame its annotation") {
  std::size_t released = 0;
  governor->on_release([&](const std::vector<Release>& releases) { released += releases.size(); });
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  Subjects without_containers;
  without_containers.add("be/pod/a", {"u", "shop", "web", "a", {}, false, of_a});
  without_containers.add("be/pod", {"u", "shop", "web", {}, {}, false, {1500, {}}});
  governor->set_subjects(std::make_shared<const Subjects>(std::move(without_containers)));
  CHECK(read("be/pod") == "150000 100000");
  CHECK(last().reason == "no intent holds it any more");
  CHECK(released == 0);
}

TEST_CASE_FIXTURE(OnV2, "a container of an unknown pod is not scaled until its pod is known") {
  governor->set_subjects(std::make_shared<const Subjects>());
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  CHECK(read("be/pod/a") == "100000 100000");
  CHECK(reported["burst"].back().outcome == Outcome::failed);
  CHECK(last().problem == "no pod is known of 'be/pod/a', and without its spec no base to scale");
  know_pods();
  seconds(1);
  CHECK(read("be/pod/a") == "150000 100000");
  CHECK(reported["burst"].back().outcome == Outcome::applied);
}

TEST_CASE_FIXTURE(OnV2, "without a limit in the spec the base is the original, and never a value of ours") {
  of_a = {};
  know_pods();
  for (int i = 0; i < 5; ++i) {
    propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
    CHECK(read("be/pod/a") == "150000 100000");
    CHECK(*governor->base("cpu.max", "be/pod/a") == "100000 100000");
    begin();  // the state is the same as after SIGKILL
    seconds(1);
    propose("burst", {});
    CHECK(read("be/pod/a") == "100000 100000");
  }
}

TEST_CASE_FIXTURE(OnV2, "a container without a quota has none whatever its scale, and gets a cap") {
  rules.is_enforced = false;
  know_pods();
  write("be/pod/a", "max 100000");
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  CHECK(read("be/pod/a") == "max 100000");
  CHECK(reported["burst"].back().outcome == Outcome::applied);
  propose("suppress", {intent(Role::cap, "be/pod/a", "30000 100000")});
  CHECK(read("be/pod/a") == "30000 100000");
  withdraw("suppress");
  CHECK(read("be/pod/a") == "max 100000");
}

TEST_CASE_FIXTURE(OnV2, "caps and scales of several strategies are one value, and each is reported") {
  propose("burst", {intent(Role::scale, "be/pod/a", "3")});
  propose("mild", {intent(Role::cap, "be/pod/a", "250000 100000")});
  CHECK(read("be/pod/a") == "250000 100000");
  CHECK(reported["burst"].back().outcome == Outcome::applied);  // it contributes a factor to the value
  CHECK(reported["burst"].back().winner == "mild");
  CHECK(reported["mild"].back().outcome == Outcome::applied);
  propose("strict", {intent(Role::cap, "be/pod/a", "40000 100000")});
  CHECK(read("be/pod/a") == "40000 100000");
  withdraw("strict");
  CHECK(read("be/pod/a") == "250000 100000");
  withdraw("mild");
  CHECK(read("be/pod/a") == "300000 100000");
  CHECK(reported["burst"].back().outcome == Outcome::applied);
}

TEST_CASE_FIXTURE(OnV2, "a value and the results of its parts are the same in whatever order the parts come") {
  std::vector<std::pair<std::string, Plan>> parts = {
      {"burst", {intent(Role::scale, "be/pod/a", "2")}},
      {"hook", {intent(Role::base, "be/pod/a", "120000 100000")}},
      {"mild", {intent(Role::cap, "be/pod/a", "180000 100000")}},
      {"normal", {intent(Role::scale, "be/pod/a", "0.8")}},
  };
  const auto by_plugin = [](const auto& one, const auto& other) { return one.first < other.first; };
  do {
    std::string order;
    for (const auto& [plugin, plan] : parts) order += plugin + " ", propose(plugin, plan);
    CAPTURE(order);
    CHECK(read("be/pod/a") == "180000 100000");
    CHECK(composition("be/pod/a") ==
          "cpu.max 180000 100000 = base 120000 (hook) × 2 (burst) × 0.8 (normal), cap 180000 (mild)");
    for (const char* plugin : {"burst", "normal", "mild"}) CHECK(reported[plugin].back().outcome == Outcome::applied);
    CHECK(reported["hook"].back().outcome == Outcome::lost);
    for (const auto& [plugin, results] : reported) CHECK(results.back().winner == "mild");
    for (const auto& [plugin, results] : reported) withdraw(plugin);
  } while (std::next_permutation(parts.begin(), parts.end(), by_plugin));
}

TEST_CASE_FIXTURE(OnV2, "a cap that does not bind writes nothing") {
  propose("mild", {intent(Role::cap, "be/pod/a", "250000 100000")});
  CHECK(read("be/pod/a") == "100000 100000");
  CHECK(reported["mild"].back().outcome == Outcome::applied);
  CHECK(governor->held() == 0);
}

TEST_CASE_FIXTURE(OnV2, "in shadow mode the parts of the value are recorded, and nothing is written") {
  governor->set_mode("burst", Mode::shadow);
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  CHECK(read("be/pod/a") == "100000 100000");
  CHECK(last().outcome == Outcome::shadow);
  CHECK(last().composition == "cpu.max 150000 100000 = base 100000 (limit 1) × 1.5 (burst), no cap");
}

TEST_CASE_FIXTURE(
    OnV2, "a pod with a limit of its own below the sum of its containers' has no more than that and what is added") {
  of_a = {800, {}}, of_b = {800, {}}, of_pod = SpecLimits{1000, {}};
  know_pods();
  write("be/pod", "100000 100000"), write("be/pod/a", "80000 100000"), write("be/pod/b", "80000 100000");
  propose("suppress", {intent(Role::cap, "be/pod/a", "50000 100000")});
  CHECK(read("be/pod") == "100000 100000");
  withdraw("suppress");
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  CHECK(read("be/pod") == "140000 100000");
}

TEST_CASE_FIXTURE(OnV2, "the base of a cgroup with two knobs for one resource is in the units of the knob that asks") {
  node.write("cgroup/be/cpu.weight", "100\n");
  propose("a", {intent(Role::cap, "be", "50", "cpu.weight")});
  CHECK(trim(*read_file(node.path("cgroup/be/cpu.weight"))) == "50");
  const std::string shares = *governor->base("cpu.shares", "be");
  // This cap does not limit the value, although its knob cpu.shares is written to the same file.
  propose("b", {intent(Role::cap, "be", "100000", "cpu.shares")});
  CHECK(trim(*read_file(node.path("cgroup/be/cpu.weight"))) == "50");
  withdraw("a");
  propose("b", {intent(Role::cap, "be", "512", "cpu.shares")});
  withdraw("b");
  CHECK(trim(*read_file(node.path("cgroup/be/cpu.weight"))) == "100");
  CHECK(shares == *governor->base("cpu.shares", "be"));
  CHECK(governor->held() == 0);
}

TEST_CASE_FIXTURE(OnV2, "the base of one of several devices asks for the device") {
  node.write("cgroup/be/io.max", "8:16 rbps=1000 wbps=max riops=max wiops=max\n");
  node.write("cgroup/cgroup.controllers", "cpu io memory\n");
  begin();
  CHECK(*governor->base("io.max 8:16", "be") == "8:16 rbps=1000 wbps=max riops=max wiops=max");
  CHECK_FALSE(governor->base("io.max", "be"));
}

TEST_CASE_FIXTURE(OnV2, "the base of a cgroup is that of its one name") {
  of_a = {};
  know_pods();
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  CHECK(*governor->base("cpu.max", "be/pod/a") == "100000 100000");
  for (const char* dir : {"be//pod/a", "be/pod/a/", "be/./pod/a"}) CHECK_FALSE(governor->base("cpu.max", dir));
}
