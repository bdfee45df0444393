// SPDX-License-Identifier: Apache-2.0
// A class with a pod of two limited containers, with the files of cgroup v1 or v2, and a governor that enforces.
#pragma once

#include <doctest/doctest.h>
#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "core/knob/governor.hpp"
#include "test/support/fake_node.hpp"
#include "test/support/made_intent.hpp"

namespace koord::test {

using namespace koord::knob;
using namespace koord::decision;
using namespace std::chrono_literals;

using Tree = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// A class with a pod of two containers. Strategies are plugins of any name that may write.
struct PodsWithRoles {
  test::FakeNode node;
  ManualClock clock;
  MemoryOriginals originals;
  std::unique_ptr<Governor> governor;
  std::map<std::string, std::vector<IntentResult>> reported;
  SpecLimits of_a{1000, {}}, of_b{500, {}};
  std::optional<SpecLimits> of_pod = {};  // otherwise the sum of its containers
  HandsOff hands_off;
  QuotaRules rules{.is_known = true};

  explicit PodsWithRoles(Tree tree) : node(tree) { begin(); }
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
  static Intent intent(Role role, std::string dir, std::string value, std::string_view knob = "cpu.max") {
    Intent made = made_intent(knob, std::move(value), role);
    made.level = dir == "be" ? Level::qos : dir == "be/pod" ? Level::pod : Level::container;
    made.cgroup_dir = std::move(dir);
    made.reason = "the node is busy";
    made.ttl = 1min;
    return made;
  }
  void propose(const std::string& plugin, Plan plan) {
    governor->take({plugin, "main"}, std::move(plan), [this, plugin](std::vector<IntentResult> results) {
      auto& list = reported[plugin];
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

struct OnV2 : PodsWithRoles {
  OnV2()
      : PodsWithRoles({{"cgroup/cgroup.controllers", "cpu memory\n"},
                       {"cgroup/be/cpu.max", "max 100000\n"},
                       {"cgroup/be/pod/cpu.max", "150000 100000\n"},
                       {"cgroup/be/pod/a/cpu.max", "100000 100000\n"},
                       {"cgroup/be/pod/b/cpu.max", "50000 100000\n"}}) {}
  std::string read(const std::string& dir) const {
    return std::string(trim(*read_file(node.path("cgroup/" + dir + "/cpu.max"))));
  }
  void write(const std::string& dir, const std::string& text) { node.write("cgroup/" + dir + "/cpu.max", text + "\n"); }
};

struct OnV1 : PodsWithRoles {
  OnV1() : PodsWithRoles({{"cgroup/cpu/cpu.cfs_quota_us", "-1\n"}, {"cgroup/cpu/cpu.cfs_period_us", "100000\n"}}) {
    for (const auto& [dir, quota] :
         {std::pair("be", "-1"), {"be/pod", "150000"}, {"be/pod/a", "100000"}, {"be/pod/b", "50000"}})
      write(dir, quota);
  }
  std::string read(const std::string& dir) const {
    return std::string(trim(*read_file(node.path("cgroup/cpu/" + dir + "/cpu.cfs_quota_us"))));
  }
  void write(const std::string& dir, const std::string& quota) {
    node.write("cgroup/cpu/" + dir + "/cpu.cfs_quota_us", quota + "\n");
    node.write("cgroup/cpu/" + dir + "/cpu.cfs_period_us", "100000\n");
  }
  std::string all() const {
    return read("be") + " " + read("be/pod") + " " + read("be/pod/a") + " " + read("be/pod/b");
  }
};

}  // namespace koord::test
