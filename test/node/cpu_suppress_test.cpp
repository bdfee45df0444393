// SPDX-License-Identifier: Apache-2.0
// qos-cpu-suppress' intents enforced on this kernel, which has a real load. The kernel has the decided values, and
// after the strategy is off every file has its original value. The results do not depend on time, because with a
// threshold of 0 best-effort pods always get the minimum, even if the machine is idle. Needs root.
#include <doctest/doctest.h>

#include "core/base/cpu_set.hpp"
#include "test/support/child_process.hpp"
#include "test/support/run_with_cgroups.hpp"
#include "test/support/suppress_rig.hpp"

using namespace koord;
using namespace koord::test;
using cpu_suppress::Policy;

namespace {

struct CpuSuppressFixture {
  CpuSuppressFixture() { pods.set_shares(pods.besteffort, 2); }  // the shares that a kubelet sets
  ~CpuSuppressFixture() { pods.batch.end_processes(); }

  // Checks that a value is decided and read back from the kernel, switched off and on again, and reverted at the end.
  void comes_and_goes(Policy policy, const RealCgroup& where, std::string_view knob, const std::string& wanted) {
    before = pods.knobs();
    {
      SuppressRig rig(pods, policy, 0);
      for (bool again : {false, true}) {
        rig.round();
        REQUIRE(!rig.decisions().empty());
        INFO(rig.decisions().back().problem);
        CHECK(rig.decisions().back().outcome == decision::Outcome::applied);
        CHECK(pods.read(where, knob) == wanted);
        if (again) break;
        rig.off();
        CHECK(changes(before, pods.knobs()) == "");
      }
    }
    CHECK(changes(before, pods.knobs()) == "");
  }

  PodsByHand pods{"suppress"};
  const std::string least = pods.cpus() < 4 ? "0" : "0-1";
  ChildProcess load{[this] { pods.become_load(pods.batch); }};
  std::map<std::string, std::string> before;
};

}  // namespace

TEST_CASE_FIXTURE(CpuSuppressFixture,
                  "cfsQuota bounds the time of best-effort pods, and off leaves every file as it was") {
  comes_and_goes(Policy::cfs_quota, pods.besteffort, "cpu.max", "2000 100000");
}

TEST_CASE_FIXTURE(CpuSuppressFixture, "cpuset confines best-effort pods, and off leaves every file as it was") {
  if (pods.cpus() < 2 || pods.is_v2()) return;  // no smaller set exists; for v2 see the next test
  comes_and_goes(Policy::cpuset, pods.batch, "cpuset.cpus", least);
}

// The kernel does not clear the cpuset of a cgroup with tasks.
TEST_CASE_FIXTURE(CpuSuppressFixture,
                  "v2: off gives a confined class all CPUs; after its tasks have ended every file is as before") {
  if (pods.cpus() < 2 || !pods.is_v2()) return;
  before = pods.knobs();
  SuppressRig rig(pods, Policy::cpuset, 0);
  rig.round();
  CHECK(pods.read(pods.besteffort, "cpuset.cpus") == least);
  CHECK(pods.read(pods.batch, "cpuset.cpus.effective") == least);
  rig.off();
  const std::string all = pods.read(pods.top, "cpuset.cpus.effective");
  CHECK(pods.read(pods.batch, "cpuset.cpus.effective") == all);
  const std::string now = pods.read(pods.besteffort, "cpuset.cpus");
  CHECK((now.empty() || now == all));  // newer kernels may clear it
  pods.batch.end_processes();
  eventually([&] { return rig.off(), changes(before, pods.knobs()).empty(); }, std::chrono::minutes(1));
  CHECK(changes(before, pods.knobs()) == "");
}

TEST_CASE_FIXTURE(
    CpuSuppressFixture,
    "cpuIdle: best-effort pods run on otherwise idle CPUs, and off leaves every file as it was, the weight too") {
  if (!pods.knows("cpu.idle")) return;  // before Linux 5.15
  comes_and_goes(Policy::cpu_idle, pods.besteffort, "cpu.idle", "1");
}

int main(int argc, char** argv) { return koord::test::run_with_cgroups(argc, argv); }
