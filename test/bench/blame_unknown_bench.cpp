// SPDX-License-Identifier: Apache-2.0
// The share of long waits for a CPU that has no culprit, because the programs remember only some of the cgroups that
// ran: 10, 40 and 100 cgroups that want the same CPU, with turns as long as the scheduler allows, with turns of 0.2 ms,
// and half of each. Also the time of the program at a switch, beside an empty program at the same switches. Needs root.
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/unique_fd.hpp"
#include "plugins/advisor-interference/cpu_blame.hpp"
#include "test/bench/program_time.hpp"
#include "test/support/child_process.hpp"
#include "test/support/cpu_workloads.hpp"
#include "test/support/real_cgroup.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"  // code that bpftool generates cannot be changed
#include "bpf/sched_latency_reference/sched_latency_reference.skel.h"
#pragma GCC diagnostic pop

namespace {

using namespace std::chrono_literals;
using koord::UniqueFd;
using koord::bench::ProgramTime;
using koord::bench::time_of_newest;
using koord::interference::Blame;
using koord::interference::CpuBlame;
using koord::interference::Occupant;
using koord::latency::CgroupTree;
using koord::test::ChildProcess;
using koord::test::kMicrosecond;
using koord::test::RealCgroup;

constexpr int kSkip = 77;
constexpr int kWindows = 5;  // as in the plugin, each is read after a second

[[noreturn]] void skip(const std::string& why) {
  std::printf("SKIPPED: blame_unknown: %s\n", why.c_str());
  std::exit(kSkip);
}

template <class T>
T or_skip(koord::Result<T> result) {
  if (!result) skip(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

CgroupTree real_tree() { return or_skip(CgroupTree::find("cpu", "/sys/fs/cgroup", "/proc")); }

// Works for 0.2 ms, sleeps for a few microseconds, and wants the CPU again.
[[noreturn]] void take_short_turns() {
  ::prctl(PR_SET_TIMERSLACK, 1);
  koord::test::run_on_cpu(0);
  while (true) {
    koord::test::work(200 * kMicrosecond);
    ::usleep(20);
  }
}

// Prefers the cgroup to most other load of the machine.
void go_first(const RealCgroup& cgroup) {
  const std::string directory = cgroup.path(koord::cgroup::Controller::cpu);
  if (!koord::write_value(directory + "/cpu.shares", "10240"))
    or_skip(koord::write_value(directory + "/cpu.weight", "1000"));
}

enum class Turns { longest, short_ones, both };

// Cgroups with one process each, all on one CPU.
class Crowd {
 public:
  Crowd(int n, Turns turns) {
    go_first(parent_);
    for (int i = 0; i < n; ++i) {
      const RealCgroup& cgroup =
          *cgroups_.emplace_back(std::make_unique<RealCgroup>(parent_, "pod" + std::to_string(i)));
      ids.insert(or_skip(real_tree().directory(cgroup.dir())).id);
      const bool is_short = turns == Turns::short_ones || (turns == Turns::both && i % 2 == 0);
      processes_.push_back(koord::test::start_in(cgroup, is_short ? take_short_turns : koord::test::spin));
    }
  }

  std::unordered_set<std::uint64_t> ids;

 private:
  RealCgroup parent_{"unknown"};
  std::vector<std::unique_ptr<RealCgroup>> cgroups_;
  std::vector<std::unique_ptr<ChildProcess>> processes_;  // destroyed first, so the processes end first
};

struct CloseReference {
  void operator()(sched_latency_reference* skeleton) const { sched_latency_reference__destroy(skeleton); }
};
using Reference = std::unique_ptr<sched_latency_reference, CloseReference>;

// Attaches the program that does nothing at each switch.
Reference attach_empty() {
  Reference skeleton(sched_latency_reference__open());
  if (!skeleton) skip("cannot open the empty program");
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton->obj)
      bpf_program__set_autoload(program, std::string(bpf_program__name(program)).starts_with("empty"));
  if (sched_latency_reference__load(skeleton.get()) != 0 || sched_latency_reference__attach(skeleton.get()) != 0)
    skip("the kernel does not accept the empty program");
  return skeleton;
}

void measure(int n, Turns turns, const char* name) {
  const Crowd crowd(n, turns);
  CpuBlame blame = or_skip(CpuBlame::open(real_tree()));
  const Reference reference = attach_empty();
  const UniqueFd counting(bpf_enable_stats(BPF_STATS_RUN_TIME));
  if (!counting) skip("the kernel does not count the time of programs");
  std::this_thread::sleep_for(2s);  // waits that began before the programs have no culprit
  or_skip(blame.read());
  const ProgramTime blame_before = time_of_newest("blame_on_switch"), empty_before = time_of_newest("empty_on_switch");
  double all_ns = 0, unknown_ns = 0;
  for (int window = 0; window < kWindows; ++window) {
    std::this_thread::sleep_for(1s);
    for (const Blame& one : or_skip(blame.read()).blames) {
      if (!crowd.ids.contains(one.victim)) continue;
      all_ns += static_cast<double>(one.ns);
      if (one.occupant == Occupant::unknown) unknown_ns += static_cast<double>(one.ns);
    }
  }
  const ProgramTime program = time_of_newest("blame_on_switch") - blame_before;
  const ProgramTime empty = time_of_newest("empty_on_switch") - empty_before;
  std::printf("%3d cgroups, %-22s %6.2f switches/ms, long waits %5.0f CPUs, unknown %6.2f %%, ", n, name,
              static_cast<double>(program.runs) / (kWindows * 1e3), all_ns / (kWindows * 1e9),
              100 * unknown_ns / all_ns);
  std::printf("%.0f ns at a switch, an empty program %.0f ns\n", program.ns_per_run(), empty.ns_per_run());
  std::fflush(stdout);
}

}  // namespace

int main() {
  if (::geteuid() != 0) skip("not root");
  if (auto why = RealCgroup::unavailable()) skip(*why);
  for (const int n : {10, 40, 100}) {
    measure(n, Turns::longest, "longest turns");
    measure(n, Turns::short_ones, "turns of 0.2 ms");
    measure(n, Turns::both, "half of each");
  }
  return 0;
}
