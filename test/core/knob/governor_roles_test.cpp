// SPDX-License-Identifier: Apache-2.0
// Values that are composed: of intents with roles, of a pod's spec, of the cgroups around and inside.
#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "core/knob/governor.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::knob;
using namespace std::chrono_literals;

namespace {

using Tree = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// A class with a pod of two containers; strategies are plugins of any name that may write.
struct Pods {
  test::FakeNode node;
  ManualClock clock;
  MemoryOriginals originals;
  std::unique_ptr<Governor> governor;
  std::map<std::string, std::vector<IntentResult>> told;
  SpecLimits of_a{1000, {}}, of_b{500, {}};
  std::optional<SpecLimits> of_pod = {};  // else its containers'
  HandsOff hands_off;
  QuotaRules rules{.is_known = true};

  explicit Pods(Tree tree) : node(tree) { begin(); }
  void begin() {
    governor = std::make_unique<Governor>(clock, *cgroup::Layout::detect(node.roots()), node.roots(), originals);
    governor->set_node_mode(Mode::enforce);
    know_pods();
  }
  void know_pods() {
    Subjects subjects;
    subjects.set_quota_rules(rules);
    Subject a{"u", "shop", "web", "a", hands_off, false, of_a}, b{"u", "shop", "web", "b", hands_off, false, of_b};
    Subject pod{"u", "shop", "web", {}, hands_off};
    if (of_a.cpu_milli && of_b.cpu_milli) pod.limits.cpu_milli = *of_a.cpu_milli + *of_b.cpu_milli;
    if (of_pod) pod.limits = *of_pod;
    pod.containers = {"be/pod/a", "be/pod/b"};
    subjects.add("be/pod/a", a);
    subjects.add("be/pod/b", b);
    subjects.add("be/pod", pod);
    governor->set_subjects(std::make_shared<const Subjects>(std::move(subjects)));
  }
  static Intent intent(Role role, std::string dir, std::string value, std::string knob = "cpu.max") {
    Intent made;
    made.level = dir == "be" ? Level::qos : dir == "be/pod" ? Level::pod : Level::container;
    made.knob = std::move(knob);
    made.cgroup_dir = std::move(dir);
    made.value = std::move(value);
    made.reason = "the node is busy";
    made.ttl = 1min;
    made.role = role;
    return made;
  }
  void propose(const std::string& plugin, Plan plan) {
    governor->take({plugin, "main"}, std::move(plan), [this, plugin](std::vector<IntentResult> results) {
      auto& list = told[plugin];
      list.insert(list.end(), results.begin(), results.end());
    });
  }
  void withdraw(const std::string& plugin) { governor->withdraw({plugin, "main"}); }
  void seconds(int count) {
    for (int i = 0; i < count; ++i) {
      clock.advance(1s);
      governor->expire();
    }
  }
  Decision last() const { return governor->decisions().back(); }
  std::string composition(const std::string& dir) const {
    for (const KnobView& view : governor->knobs())
      if (view.cgroup_dir == dir) return view.composition;
    return "no such knob";
  }
};

struct OnV2 : Pods {
  OnV2()
      : Pods({{"cgroup/cgroup.controllers", "cpu memory\n"},
              {"cgroup/be/cpu.max", "max 100000\n"},
              {"cgroup/be/pod/cpu.max", "150000 100000\n"},
              {"cgroup/be/pod/a/cpu.max", "100000 100000\n"},
              {"cgroup/be/pod/b/cpu.max", "50000 100000\n"}}) {}
  std::string read(const std::string& dir) const { return std::string(trim(*read_file(node.path("cgroup/" + dir + "/cpu.max")))); }
  void write(const std::string& dir, const std::string& text) { node.write("cgroup/" + dir + "/cpu.max", text + "\n"); }
};

struct OnV1 : Pods {
  OnV1() : Pods({{"cgroup/cpu/cpu.cfs_quota_us", "-1\n"}, {"cgroup/cpu/cpu.cfs_period_us", "100000\n"}}) {
    for (const auto& [dir, quota] : {std::pair("be", "-1"), {"be/pod", "150000"}, {"be/pod/a", "100000"}, {"be/pod/b", "50000"}}) write(dir, quota);
  }
  std::string read(const std::string& dir) const { return std::string(trim(*read_file(node.path("cgroup/cpu/" + dir + "/cpu.cfs_quota_us")))); }
  void write(const std::string& dir, const std::string& quota) {
    node.write("cgroup/cpu/" + dir + "/cpu.cfs_quota_us", quota + "\n");
    node.write("cgroup/cpu/" + dir + "/cpu.cfs_period_us", "100000\n");
  }
  std::string all() const { return read("be") + " " + read("be/pod") + " " + read("be/pod/a") + " " + read("be/pod/b"); }
};

}  // namespace

TEST_CASE_FIXTURE(OnV2, "a scale multiplies the limit of the spec, its pod makes room, and a withdrawal writes the limits back") {
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  CHECK(read("be/pod/a") == "150000 100000");
  CHECK(read("be/pod") == "200000 100000");
  CHECK(read("be/pod/b") == "50000 100000");
  CHECK(composition("be/pod/a") == "cpu.max 150000 100000 = base 100000 (limit 1) × 1.5 (burst), no cap");
  CHECK(composition("be/pod") == "cpu.max 200000 100000 = base 150000 (limit 1500m), floor 200000 (its containers), no cap");
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
  const Original left[] = {{.key = {"be/pod/a", "cpu.max", {}}, .level = Level::container, .knob = "cpu.max",
                                        .cgroup = KnobFiles(*cgroup::Layout::detect(node.roots()), node.roots()).read({*find_knob("cpu.max"), "be/pod/a"})->cgroup,
                                        .texts = {"250000 100000"}, .written = {"300000 100000"}}};
  REQUIRE(originals.keep(left));
  write("be/pod/a", "300000 100000");
  begin();
  seconds(1);  // nobody proposes it
  CHECK(read("be/pod/a") == "100000 100000");
  CHECK(last().outcome == Outcome::reverted);
}

TEST_CASE_FIXTURE(OnV2, "a limit that changes is followed, whatever the file says") {
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  of_a.cpu_milli = 2000;
  know_pods();
  CHECK(read("be/pod/a") == "300000 100000");
  withdraw("burst");
  CHECK(read("be/pod/a") == "200000 100000");
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
  CHECK(told["burst"].back().outcome == Outcome::failed);
  CHECK(last().problem == "no pod is known of 'be/pod/a', and without its spec no base to scale");
  know_pods();
  seconds(1);
  CHECK(read("be/pod/a") == "150000 100000");
  CHECK(told["burst"].back().outcome == Outcome::applied);
}

TEST_CASE_FIXTURE(OnV2, "without a limit in the spec the base is the original, and never a value of ours") {
  of_a = {};
  know_pods();
  for (int i = 0; i < 5; ++i) {
    propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
    CHECK(read("be/pod/a") == "150000 100000");
    CHECK(*governor->base("cpu.max", "be/pod/a") == "100000 100000");
    begin();  // as after SIGKILL
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
  CHECK(told["burst"].back().outcome == Outcome::applied);
  propose("suppress", {intent(Role::cap, "be/pod/a", "30000 100000")});
  CHECK(read("be/pod/a") == "30000 100000");
  withdraw("suppress");
  CHECK(read("be/pod/a") == "max 100000");
}

TEST_CASE_FIXTURE(OnV2, "caps and scales of several strategies are one value, and each is told") {
  propose("burst", {intent(Role::scale, "be/pod/a", "3")});
  propose("mild", {intent(Role::cap, "be/pod/a", "250000 100000")});
  CHECK(read("be/pod/a") == "250000 100000");
  CHECK(told["burst"].back().outcome == Outcome::lost);
  CHECK(told["burst"].back().winner == "mild");
  CHECK(told["mild"].back().outcome == Outcome::applied);
  propose("strict", {intent(Role::cap, "be/pod/a", "40000 100000")});
  CHECK(read("be/pod/a") == "40000 100000");
  withdraw("strict");
  CHECK(read("be/pod/a") == "250000 100000");
  withdraw("mild");
  CHECK(read("be/pod/a") == "300000 100000");
  CHECK(told["burst"].back().outcome == Outcome::applied);
}

TEST_CASE_FIXTURE(OnV2, "a cap that does not bind writes nothing") {
  propose("mild", {intent(Role::cap, "be/pod/a", "250000 100000")});
  CHECK(read("be/pod/a") == "100000 100000");
  CHECK(told["mild"].back().outcome == Outcome::applied);
  CHECK(governor->held() == 0);
}

TEST_CASE_FIXTURE(OnV2, "in shadow the parts of what would be are recorded, and nothing is written") {
  governor->set_mode("burst", Mode::shadow);
  propose("burst", {intent(Role::scale, "be/pod/a", "1.5")});
  CHECK(read("be/pod/a") == "100000 100000");
  CHECK(last().outcome == Outcome::shadow);
  CHECK(last().composition == "cpu.max 150000 100000 = base 100000 (limit 1) × 1.5 (burst), no cap");
}

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

TEST_CASE_FIXTURE(OnV1, "what a cap does to the cgroups inside is recorded with its reason, once") {
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

TEST_CASE_FIXTURE(OnV1, "a scale inside of a capped class is capped, and a withdrawn scale stays below the cap") {
  propose("burst", {intent(Role::scale, "be/pod/b", "2")});
  CHECK(all() == "-1 200000 100000 100000");
  propose("suppress", {intent(Role::cap, "be", "80000 100000")});
  CHECK(all() == "80000 80000 80000 80000");
  CHECK(told["burst"].back().winner == "suppress");
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
  CHECK(told["suppress"].back().outcome == Outcome::failed);
  CHECK(last().problem.starts_with("less than is used inside of it: 'be/pod"));
  hands_off.all = false;
  know_pods();
  seconds(1);
  CHECK(all() == "80000 80000 80000 50000");
}

TEST_CASE_FIXTURE(OnV1, "a set of the class is not a cap, and is refused while more is used inside") {
  propose("old", {intent(Role::set, "be", "80000 100000")});
  CHECK(all() == "-1 150000 100000 50000");
  CHECK(told["old"].back().outcome == Outcome::failed);
}

TEST_CASE_FIXTURE(OnV1, "the end of the agent reverts caps of all levels") {
  propose("suppress", {intent(Role::cap, "be", "30000 100000")});
  CHECK(governor->stop().size() == 4);
  CHECK(all() == "-1 150000 100000 50000");
}

TEST_CASE_FIXTURE(OnV1, "a pod with hands off from one plugin is not capped by its class, whatever others propose for it") {
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
  CHECK(governor->standing().at(Outcome::failed) == 1);
}

TEST_CASE_FIXTURE(OnV1, "a class that cannot be capped for a pod with hands off does not cap the other pods") {
  hands_off.all = true;
  know_pods();
  write("be/other", "120000");
  propose("suppress", {intent(Role::cap, "be", "80000 100000")});
  CHECK(all() == "-1 150000 100000 50000");
  CHECK(read("be/other") == "120000");
}

TEST_CASE_FIXTURE(OnV2, "a pod with a limit of its own below the sum of its containers' has no more than that and what is added") {
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
  propose("b", {intent(Role::cap, "be", "100000", "cpu.shares")});  // does not bind, and turns the same file
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

TEST_CASE_FIXTURE(OnV1, "a limit that changes below a cap is what a killed agent's successor reverts to, though it knows no pod") {
  propose("suppress", {intent(Role::cap, "be", "80000 100000")});
  of_a.cpu_milli = 2000;
  know_pods();
  governor.reset();
  governor = std::make_unique<Governor>(clock, *cgroup::Layout::detect(node.roots()), node.roots(), originals);
  governor->set_node_mode(Mode::enforce);
  seconds(1);
  CHECK(all() == "-1 250000 200000 50000");
}
