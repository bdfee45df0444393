// SPDX-License-Identifier: Apache-2.0
// Cost of measuring scheduling latency, in the worst case: two processes that only switch, on one CPU (`perf bench
// sched pipe`). Rounds of all variants alternate; the median of each counts. "blame" charges the waits to those who
// ran, and counts them as sched_info does: it is all that runs if both are wanted. "two cgroups" is the same with each
// of the two in a cgroup of its own: more to remember for those that blame.
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
#include "plugins/advisor-interference/cpu_blame.hpp"
#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"
#include "test/bench/undisturbed.hpp"
#include "test/support/child_process.hpp"
#include "test/support/real_cgroup.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"  // code that bpftool generates cannot be changed
#include "bpf/sched_latency_reference/sched_latency_reference.skel.h"
#pragma GCC diagnostic pop

namespace {

using koord::bench::gate;
using koord::bench::pipe_us_per_op;
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

struct Running {  // attached as long as it exists
  Reference reference;
  std::unique_ptr<Probe> probe;
  std::unique_ptr<CpuBlame> blame = nullptr;
};

struct Variant {
  std::string name;
  std::function<Running()> start;
  std::vector<double> us_per_op = {}, us_of_two_cgroups = {};
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
           }},
          {"sched_info",
           [] {
             return Running{nullptr, open(Source::sched_info)};
           }},
          {"task_storage",
           [] {
             return Running{nullptr, open(Source::task_storage)};
           }},
          {"usual",
           [] {
             return Running{attach_reference("usual"), nullptr};
           }},
          {"blame", [] {
             return Running{nullptr, nullptr, open_blame()};
           }}};
}

void go_first(const RealCgroup& cgroup) {
  const std::string directory = cgroup.path(koord::cgroup::Controller::cpu);
  if (!koord::write_value(directory + "/cpu.shares", "102400"))
    static_cast<void>(koord::write_value(directory + "/cpu.weight", "10000").has_value());
}

// Differences of a few percent are smaller than what other work on the machine changes: it only makes rounds slower.
double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

// Passes a byte on, `ops` times or as long as there is one. As an ordinary task: those of a cgroup v1 may not be
// real-time ones.
void pass(const RealCgroup& cgroup, int from, int to, unsigned ops) {
  const sched_param ordinary{};
  static_cast<void>(sched_setscheduler(0, SCHED_OTHER, &ordinary) == 0);
  cgroup.add_process(::getpid());
  char byte = 'x';
  while (ops-- > 0 && ::write(to, &byte, 1) == 1 && ::read(from, &byte, 1) == 1) {
  }
}

// Like pipe_us_per_op().
double us_per_op_of_two_cgroups(unsigned ops = 50'000) {
  const RealCgroup first("bench-first"), second("bench-second");
  for (const RealCgroup* each : {&first, &second}) go_first(*each);
  std::array<int, 2> there{}, back{};
  if (::pipe(there.data()) != 0 || ::pipe(back.data()) != 0) return NAN;
  ChildProcess answering([&] { pass(second, there[0], back[1], ops); });
  const auto begin = std::chrono::steady_clock::now();
  ChildProcess asking([&] { pass(first, back[0], there[1], ops); });
  const bool ended = asking.wait(std::chrono::seconds(30)) == 0;
  const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - begin;
  for (int end : {there[0], there[1], back[0], back[1]}) ::close(end);
  return ended ? passed.count() / ops : NAN;
}

double share(const Histogram& histogram, std::size_t bucket) {
  return static_cast<double>(histogram.buckets[bucket]) / static_cast<double>(histogram.count);
}

// The largest difference of the two distributions in a bucket from 16 µs up.
double largest_difference(const Histogram& a, const Histogram& b) {
  double largest = 0;
  for (std::size_t i = 5; i < a.buckets.size(); ++i) largest = std::max(largest, std::fabs(share(a, i) - share(b, i)));
  return largest;
}

struct Totals {
  Histogram all;
  double cgroups = 0;
};

// Cgroups in which a hundred waits or more were seen: at the edges of the run one probe sees what the other
// misses.
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
  const double none = median(all[0].us_per_op), none_of_two = least(all[0].us_of_two_cgroups);
  const auto cost = [&](std::size_t i) { return median(all[i].us_per_op) - none; };
  const auto cost_of_two = [&](std::size_t i) { return least(all[i].us_of_two_cgroups) - none_of_two; };
  const auto least_cost = [&](std::size_t i) { return least(all[i].us_per_op) - least(all[0].us_per_op); };
  const auto loss = [&](std::size_t i) { return 1 - none / median(all[i].us_per_op); };
  for (const Variant& variant : all)
    std::printf("%-44s %9.3f us/op, least %9.3f, two cgroups %9.3f\n", ("    " + variant.name).c_str(),
                median(variant.us_per_op), least(variant.us_per_op), least(variant.us_of_two_cgroups));
  bool kept = gate("EB1 added us/op, sched_info / usual", cost(2), cost(4), cost(2) / cost(4), 1.0 / 3);
  kept &= gate("EB1 added us/op, task_storage / usual", cost(3), cost(4), cost(3) / cost(4), 1.0 / 2);
  // On a busy machine either may come out negative; half a percent is within the noise.
  const double ratio = std::max(loss(2), 0.0) / std::max(loss(1), 0.005);
  kept &= gate("EB2 throughput loss, sched_info / empty", loss(2), loss(1), ratio, 1.5);
  kept &= gate("EB2 throughput loss, sched_info", loss(2), 1, loss(2), 0.10);
  kept &= gate("added us/op, blame / sched_info", least_cost(5), least_cost(2), least_cost(5) / least_cost(2), 1.3);
  kept &= gate("two cgroups: added us/op, blame / sched_info", cost_of_two(5), cost_of_two(2),
               cost_of_two(5) / cost_of_two(2), 1.6);
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
      variant.us_of_two_cgroups.push_back(us_per_op_of_two_cgroups());
    }
  const bool costs_kept = compare_costs(all);
  const bool sources_agree = compare_sources();
  return costs_kept && sources_agree ? 0 : 1;
}
