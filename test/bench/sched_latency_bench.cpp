// SPDX-License-Identifier: Apache-2.0
// Cost of measuring scheduling latency, in the worst case: two processes that only switch, on one CPU (`perf bench
// sched pipe`). Rounds of all variants alternate; the median of each counts. "blame" charges the waits to those who
// ran.
#include <bpf/libbpf.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugins/advisor-interference/cpu_blame.hpp"
#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"
#include "test/bench/undisturbed.hpp"

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
  std::vector<double> us_per_op = {};

  double median() const {
    std::vector<double> sorted = us_per_op;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

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
          {"blame",
           [] {
             return Running{nullptr, nullptr, open_blame()};
           }},
          {"sched_info and blame", [] {
             return Running{nullptr, open(Source::sched_info), open_blame()};
           }}};
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
  const double none = all[0].median();
  const auto cost = [&](std::size_t i) { return all[i].median() - none; };
  const auto loss = [&](std::size_t i) { return 1 - none / all[i].median(); };
  for (const Variant& variant : all)
    std::printf("%-44s %9.3f us/op\n", ("    " + variant.name).c_str(), variant.median());
  bool kept = gate("EB1 added us/op, sched_info / usual", cost(2), cost(4), cost(2) / cost(4), 1.0 / 3);
  kept &= gate("EB1 added us/op, task_storage / usual", cost(3), cost(4), cost(3) / cost(4), 1.0 / 2);
  // On a busy machine either may come out negative; half a percent is within the noise.
  const double ratio = std::max(loss(2), 0.0) / std::max(loss(1), 0.005);
  kept &= gate("EB2 throughput loss, sched_info / empty", loss(2), loss(1), ratio, 1.5);
  kept &= gate("EB2 throughput loss, sched_info", loss(2), 1, loss(2), 0.10);
  kept &= gate("added us/op, sched_info and blame / sched_info", cost(6), cost(2), cost(6) / cost(2), 2.5);
  return kept & gate("added us/op, blame / usual", cost(5), cost(4), cost(5) / cost(4), 1);
}

}  // namespace

int main() {
  if (::geteuid() != 0) skip("not root");
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
    }
  const bool costs_kept = compare_costs(all);
  const bool sources_agree = compare_sources();
  return costs_kept && sources_agree ? 0 : 1;
}
