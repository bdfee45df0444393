// SPDX-License-Identifier: Apache-2.0
// advisor-be-resource on this machine's kernel: best-effort pods in a separate kubelet directory of the test.
#include <doctest/doctest.h>

#include "core/base/cpu_set.hpp"
#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/node/kernel_counters.hpp"
#include "test/node/real_advisor.hpp"

using namespace koord::test;
using koord::cgroup::Controller;

namespace {

// One pod with one container, nested as kind nests them: <test>/kubepods/besteffort/podu/c.
struct Node {
  RealCgroup top{"be"};
  RealCgroup kubepods{top, "kubepods"}, besteffort{kubepods, "besteffort"}, pod{besteffort, "podu"},
      container{pod, "c"};

  koord::state::Update state() const {
    koord::state::Pod made;
    made.uid = made.name = "u";
    made.kube_qos = koord::state::KubeQos::best_effort;
    made.koord_qos = koord::state::KoordQos::be;
    made.cgroup_dir = pod.dir();
    made.containers.push_back({.id = "containerd://c", .name = "c", .cgroup_dir = container.dir()});
    return {.pods = std::vector{made}};
  }
};

std::optional<double> milli(RealAdvisor& advisor, const char* allocation) {
  return advisor.host().value("node_be", {{"be_allocation", allocation}});
}

std::size_t cpus_of(const RealCgroup& cgroup) {
  for (const char* file : {"/cpuset.effective_cpus", "/cpuset.cpus.effective"})
    if (auto list = koord::read_file(cgroup.path(Controller::cpuset) + file))
      return koord::CpuSet::parse(koord::trim(*list))->size();
  return 0;
}

}  // namespace

std::optional<std::string> why_not() {
  const koord::cgroup::Layout layout = *koord::cgroup::Layout::detect(koord::NodeRoots());
  if (layout.version(Controller::cpuset)) return std::nullopt;
  return "there is no cpuset controller";
}

TEST_CASE("the limit is the number of CPUs of the pods' containers, or the quota of the class if that is less") {
  Node node;
  RealAdvisor advisor({});
  advisor.host().hub().publish(node.state());
  advisor.tick();
  CHECK(milli(advisor, "real-limit") == 1000.0 * static_cast<double>(cpus_of(node.besteffort)));
  REQUIRE(koord::write_value(node.container.path(Controller::cpuset) + "/cpuset.cpus", "0"));
  CHECK(eventually([&] {
    advisor.tick();
    return milli(advisor, "real-limit") == 1000.0;
  }));
  node.besteffort.limit_cpu(0.5);
  advisor.tick();
  CHECK(milli(advisor, "real-limit") == 500.0);
}

TEST_CASE("the usage is that of the pods between the ticks") {
  Node node;
  Burner burner(node.container);
  RealAdvisor advisor({});
  advisor.host().hub().publish(node.state());
  const Moment before_first = read_moment(node.container);
  advisor.tick();
  CHECK_FALSE(milli(advisor, "usage"));
  const Moment after_first = read_moment(node.container);
  REQUIRE(eventually([&] { return cpu_seconds(node.container) >= after_first.cpu + 1; }, std::chrono::seconds(60)));
  const Moment before_second = read_moment(node.container);
  advisor.tick();
  const Moment after_second = read_moment(node.container);
  const double used = milli(advisor, "usage").value_or(-1);
  CHECK(used >= 1000 * (before_second.cpu - after_first.cpu) / (after_second.wall - before_first.wall) - 1);
  CHECK(used <= 1000 * (after_second.cpu - before_first.cpu) / (before_second.wall - after_first.wall) + 1);
  CHECK(used > 0);
}
