// SPDX-License-Identifier: Apache-2.0
// The cost of measuring scheduling latency in the worst case: two processes that only switch, on one CPU (`perf bench
// sched pipe`). Rounds of all variants alternate; the median of each counts. "blame" charges the waits to the threads
// that ran, and counts them as sched_info does, so it is the only program if both are requested. The programs of these
// two are also compared by the run time that the kernel counts, which is exact enough on a busy machine: within one
// cgroup, and between two cgroups, for which the program of "blame" stores more.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/unique_fd.hpp"
#include "plugins/advisor-interference/cpu_blame.hpp"
#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"
#include "test/bench/program_time.hpp"
#include "test/bench/undisturbed.hpp"
#include "test/support/child_process.hpp"
#include "test/support/real_cgroup.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"  // code that bpftool generates cannot be changed
#include "bpf/sched_latency_reference/sched_latency_reference.skel.h"
#pragma GCC diagnostic pop

namespace {

using koord::UniqueFd;
using koord::bench::gate;
using koord::bench::pipe_us_per_op;
using koord::bench::ProgramTime;
using koord::bench::time_of_newest;
using CgroupTotal = koord::latency::CgroupTotal<koord::sched_latency::Waits>;
using koord::interference::CpuBlame;
using koord::latency::CgroupTree;
using koord::latency::Histogram;
using koord::sched_latency::Probe;
using koord::sched_latency::Source;
using koord::test::ChildProcess;
using koord::test::RealCgroup;

constexpr int kSkip = 77;
constexpr int kRounds = 9;

struct CloseReference {
  void operator()(sched_latency_reference* skeleton) const { sched_latency_reference__destroy(skeleton); }
};
using Reference = std::unique_ptr<sched_latency_reference, CloseReference>;

struct Running {  // attached while the object exists
  Reference reference;
  std::unique_ptr<Probe> probe;
  std::unique_ptr<CpuBlame> blame = nullptr;
};

struct Variant {
  std::string name;
  std::function<Running()> start;
  std::string program = {};  // name of the program that runs at each switch; empty: not measured
  std::vector<double> us_per_op = {}, ns_per_run = {}, ns_of_two_cgroups = {};
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

[[noreturn]] void skip(const std::string& why) {
  std::printf("SKIPPED: sched_latency: %s\n", why.c_str());
  std::exit(kSkip);
}

std::unique_ptr<Probe> open(Source source) {
  auto tree = CgroupTree::find("cpu", "/sys/fs/cgroup", "/proc");
  if (!tree) skip(tree.error().message());
  koord::sched_latency::ProbeOptions options;
  options.only = source;
  auto opened = koord::sched_latency::open_probe(*tree, options);
  if (!opened) skip(opened.error().message());
  return std::move(opened->probe);
}

std::unique_ptr<CpuBlame> open_blame() {
  auto opened = CpuBlame::open(*CgroupTree::find("cpu", "/sys/fs/cgroup", "/proc"));
  if (!opened) skip(opened.error().message());
  return std::make_unique<CpuBlame>(std::move(*opened));
}

Reference attach_reference(const std::string& prefix) {
  Reference skeleton(sched_latency_reference__open());
  if (!skeleton) skip("cannot open the reference programs");
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton->obj)
      bpf_program__set_autoload(program, std::string(bpf_program__name(program)).starts_with(prefix));
  if (sched_latency_reference__load(skeleton.get()) != 0 || sched_latency_reference__attach(skeleton.get()) != 0)
    skip("the kernel does not accept the reference programs");
  return skeleton;
}

std::vector<Variant> variants() {
  return {{"none", [] { return Running{}; }},
          {"empty",
           [] {
             return Running{attach_reference("empty"), nullptr};
           },
           "empty_on_switch"},
          {"sched_info",
           [] {
             return Running{nullptr, open(Source::sched_info)};
           },
           "sched_info_on_s"},
          {"task_storage",
           [] {
             return Running{nullptr, open(Source::task_storage)};
           }},
          {"usual",
           [] {
             return Running{attach_reference("usual"), nullptr};
           }},
          {"blame",
           [] {
             return Running{nullptr, nullptr, open_blame()};
           },
           "blame_on_switch"}};
}

void go_first(const RealCgroup& cgroup) {
  const std::string directory = cgroup.path(koord::cgroup::Controller::cpu);
  if (!koord::write_value(directory + "/cpu.shares", "102400"))
    static_cast<void>(koord::write_value(directory + "/cpu.weight", "10000").has_value());
}

// Returns the minimum, because the measured differences are a few percent, and other work on the machine changes a
// round by more, but only makes it slower.
double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

// Passes a byte on `ops` times, or until the pipe closes. Runs as an ordinary task, because tasks of a v1 cgroup may
// not be real-time tasks.
void pass(const RealCgroup& cgroup, int from, int to, unsigned ops) {
  const sched_param ordinary{};
  static_cast<void>(sched_setscheduler(0, SCHED_OTHER, &ordinary) == 0);
  cgroup.add_process(::getpid());
  char byte = 'x';
  while (ops-- > 0 && ::write(to, &byte, 1) == 1 && ::read(from, &byte, 1) == 1) {
  }
}

bool switch_between_two_cgroups(unsigned ops = 30'000) {
  const RealCgroup first("bench-first"), second("bench-second");
  for (const RealCgroup* each : {&first, &second}) go_first(*each);
  std::array<int, 2> there{}, back{};
  if (::pipe(there.data()) != 0 || ::pipe(back.data()) != 0) return false;
  ChildProcess answering([&] { pass(second, there[0], back[1], ops); });
  ChildProcess asking([&] { pass(first, back[0], there[1], ops); });
  const bool ended = asking.wait(std::chrono::seconds(30)) == 0;
  for (int end : {there[0], there[1], back[0], back[1]}) ::close(end);
  return ended;
}

// Returns the program's time per switch as the kernel measures it. The measurement itself takes about 50 ns.
double ns_per_run(const std::string& name, const std::function<bool()>& switches) {
  const UniqueFd counting(bpf_enable_stats(BPF_STATS_RUN_TIME));
  const ProgramTime before = time_of_newest(name);
  const bool ended = counting && switches();
  const ProgramTime after = time_of_newest(name);
  return ended && after.runs > before.runs ? (after - before).ns_per_run() : NAN;
}

double share(const Histogram& histogram, std::size_t bucket) {
  return static_cast<double>(histogram.buckets[bucket]) / static_cast<double>(histogram.count);
}

// Returns the largest difference of the two distributions in a bucket from 16 µs up.
double largest_difference(const Histogram& a, const Histogram& b) {
  double largest = 0;
  for (std::size_t i = 5; i < a.buckets.size(); ++i) largest = std::max(largest, std::fabs(share(a, i) - share(b, i)));
  return largest;
}

struct Totals {
  Histogram all;
  double cgroups = 0;
};

// Sums over cgroups with at least a hundred waits, because at the start and the end of the run one probe counts waits
// that the other misses.
Totals totals_of(Probe& probe) {
  auto reading = probe.read({});
  if (!reading) skip(reading.error().message());
  Totals totals;
  if (reading->unassigned) totals.all += *reading->unassigned;
  for (const auto* list : {&reading->cgroups, &reading->ended})
    for (const CgroupTotal& cgroup : *list) {
      totals.all += cgroup.total;
      totals.cgroups += cgroup.total.count >= 100 ? 1 : 0;
    }
  return totals;
}

bool compare_sources() {
  auto ours = open(Source::sched_info);
  auto other = open(Source::task_storage);
  if (!pipe_us_per_op()) skip("perf bench does not work here");
  const Totals a = totals_of(*ours);
  const Totals b = totals_of(*other);
  const double waits_a = static_cast<double>(a.all.count), waits_b = static_cast<double>(b.all.count);
  bool kept =
      gate("EB3 waits seen, difference to task_storage", waits_a, waits_b, std::fabs(waits_a / waits_b - 1), 0.01);
  kept &= gate("EB3 cgroups seen, difference", a.cgroups, b.cgroups, std::fabs(a.cgroups - b.cgroups), 0);
  return kept & gate("EB3 largest difference of a bucket >= 16 us", 0, 0, largest_difference(a.all, b.all), 0.02);
}

bool compare_costs(std::vector<Variant>& all) {
  const double none = median(all[0].us_per_op);
  const auto cost = [&](std::size_t i) { return median(all[i].us_per_op) - none; };
  // Returns the time in addition to the time of an empty program.
  const auto ns = [&](std::size_t i) { return least(all[i].ns_per_run) - least(all[1].ns_per_run); };
  const auto ns_of_two = [&](std::size_t i) {
    return least(all[i].ns_of_two_cgroups) - least(all[1].ns_of_two_cgroups);
  };
  const auto loss = [&](std::size_t i) { return 1 - none / median(all[i].us_per_op); };
  for (const Variant& variant : all) {
    std::printf("%-44s %9.3f us/op", ("    " + variant.name).c_str(), median(variant.us_per_op));
    if (!variant.program.empty())
      std::printf(", %.1f ns at a switch, between two cgroups %.1f", least(variant.ns_per_run),
                  least(variant.ns_of_two_cgroups));
    std::printf("\n");
  }
  bool kept = gate("EB1 added us/op, sched_info / usual", cost(2), cost(4), cost(2) / cost(4), 1.0 / 3);
  kept &= gate("EB1 added us/op, task_storage / usual", cost(3), cost(4), cost(3) / cost(4), 1.0 / 2);
  // On a busy machine either may be negative. Half a percent is within the noise.
  const double ratio = std::max(loss(2), 0.0) / std::max(loss(1), 0.005);
  kept &= gate("EB2 throughput loss, sched_info / empty", loss(2), loss(1), ratio, 1.5);
  kept &= gate("EB2 throughput loss, sched_info", loss(2), 1, loss(2), 0.10);
  kept &= gate("ns at a switch, blame / sched_info", ns(5), ns(2), ns(5) / ns(2), 1.3);
  kept &=
      gate("ns between two cgroups, blame / sched_info", ns_of_two(5), ns_of_two(2), ns_of_two(5) / ns_of_two(2), 2);
  return kept & gate("added us/op, blame / usual", cost(5), cost(4), cost(5) / cost(4), 1);
}

}  // namespace

int main() {
  if (::geteuid() != 0) skip("not root");
  if (auto why = RealCgroup::unavailable()) skip(*why);
  koord::bench::pin_to_one_cpu();
  koord::bench::go_before_others();
  if (!pipe_us_per_op()) skip("`perf bench sched pipe` does not work here");
  koord::bench::print_gate_header();
  std::vector<Variant> all = variants();
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      Variant& variant = all[(i + static_cast<std::size_t>(round)) % all.size()];
      const Running running = variant.start();
      variant.us_per_op.push_back(pipe_us_per_op().value_or(NAN));
      if (variant.program.empty()) continue;
      variant.ns_per_run.push_back(ns_per_run(variant.program, [] { return pipe_us_per_op(30'000).has_value(); }));
      variant.ns_of_two_cgroups.push_back(ns_per_run(variant.program, [] { return switch_between_two_cgroups(); }));
    }
  const bool costs_kept = compare_costs(all);
  const bool sources_agree = compare_sources();
  return costs_kept && sources_agree ? 0 : 1;
}
