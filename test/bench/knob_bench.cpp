// SPDX-License-Identifier: Apache-2.0
// The cost of safe knob writes on cgroups of this kernel. 1,000 changed quotas are written in order, read back and
// stored on disk; this may take at most 250 ms more than 1,000 bare writes. A round of a strategy for 250 pods of three
// containers without a change may take at most 10 ms and must make no write. Needs root.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/knob/governor.hpp"
#include "core/knob/journal.hpp"
#include "test/bench/measure.hpp"
#include "test/bench/pod_tree.hpp"
#include "test/support/made_intent.hpp"

using namespace koord;
using namespace koord::bench;
using namespace koord::knob;
using namespace koord::decision;

namespace {

constexpr int kPods = 250;
constexpr int kRounds = 7;
constexpr double kMostBeyondMs = 250, kMostRoundMs = 10;

template <class Work>
double ms_of(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Returns the pods and their containers: 1,000 cgroups.
std::vector<std::string> cgroups_of(const PodTree& tree) { return {tree.cgroups().begin() + 1, tree.cgroups().end()}; }

std::string quota(int round) { return std::to_string(50000 + round % 7 * 5000) + " 100000"; }

std::vector<Order> orders_for(const std::vector<std::string>& dirs, int round) {
  const Knob* knob = find_knob("cpu.max");
  std::vector<Order> orders;
  for (const std::string& dir : dirs)
    orders.push_back({Level::container, dir, knob, *parse_value(*knob, quota(round))});
  return orders;
}

// Writes the same values to the same files, with one write each.
double bare_ms(const KnobFiles& files, const std::vector<std::string>& dirs, int round) {
  const Knob& knob = *find_knob("cpu.max");
  const Texts texts = *files.texts_of(knob, *parse_value(knob, quota(round)));
  const Texts now = *files.texts_of(knob, *parse_value(knob, "max 100000"));
  return ms_of([&] {
    for (const std::string& dir : dirs) (void)files.write({knob, dir}, texts, now).has_value();
  });
}

int changed(const cgroup::Layout& layout, const std::vector<std::string>& dirs, const std::string& directory) {
  KnobFiles files(layout, NodeRoots());
  SystemClock clock;
  Journal journal({directory, "bench"}, clock);
  if (auto opened = journal.open(); !opened) return std::printf("%s\n", opened.error().message().c_str()), 1;
  Executor executor(files, journal, clock);
  std::vector<double> ours, bare;
  std::size_t failed = 0;
  const double first = ms_of([&] {
    for (const Done& done : executor.apply(orders_for(dirs, 1)).done) failed += done.outcome != Outcome::applied;
  });
  for (int round = 2; round < 2 + kRounds; ++round) {
    const std::vector<Order> orders = orders_for(dirs, round);
    ours.push_back(ms_of([&] {
      for (const Done& done : executor.apply(orders).done) failed += done.outcome != Outcome::applied;
    }));
  }
  const double back = ms_of([&] { failed += executor.apply({}).undone.size() != dirs.size(); });
  for (int round = 2; round < 2 + kRounds; ++round) bare.push_back(bare_ms(files, dirs, round));
  const double beyond = median(ours) - median(bare);
  std::printf(
      "%zu quotas changed: %.1f ms, bare writes %.1f ms, beyond %.1f ms (at most %.0f); first time %.1f ms, reverted %.1f ms\n",
      dirs.size(), median(ours), median(bare), beyond, kMostBeyondMs, first, back);
  return failed > 0 || beyond > kMostBeyondMs || first - median(bare) > kMostBeyondMs;
}

int unchanged(const cgroup::Layout& layout, const std::vector<std::string>& dirs, Mode mode) {
  ManualClock clock;
  MemoryOriginals originals;
  Governor governor(clock, layout, NodeRoots(), originals);
  governor.set_node_mode(mode);
  Plan plan;
  for (const std::string& dir : dirs) {
    Intent intent = test::made_intent("cpu.max", quota(3));
    intent.level = Level::container;
    intent.cgroup_dir = dir;
    intent.reason = "the pod is throttled and the node is idle";
    intent.inputs = {{"node_cpu_usage", "7.3"}, {"throttled", "0.2"}};
    intent.ttl = std::chrono::seconds(10);
    plan.push_back(std::move(intent));
  }
  const Proposer proposer{"bench", "main"};
  const ReportResults no_listener = [](std::vector<IntentResult>) {};
  governor.take(proposer, plan, no_listener);
  const std::size_t decisions = governor.decisions().size();
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    clock.advance(std::chrono::seconds(1));
    Plan again = plan;
    rounds.push_back(ms_of([&] { governor.take(proposer, std::move(again), no_listener); }));
  }
  const bool is_silent = governor.decisions().size() == decisions;
  std::printf("a round of %zu intents with nothing new, %s: %.2f ms (at most %.0f)%s\n", dirs.size(),
              mode == Mode::enforce ? "enforced" : "in shadow", median(rounds), kMostRoundMs,
              is_silent ? "" : ", and it made decisions");
  governor.stop();
  return !is_silent || median(rounds) > kMostRoundMs;
}

}  // namespace

int main() {
  if (::geteuid() != 0) return std::printf("skipped: not root\n"), 77;
  Result<cgroup::Layout> layout = cgroup::Layout::detect(NodeRoots());
  if (!layout) return std::printf("skipped: %s\n", layout.error().message().c_str()), 77;
  char directory[] = "/tmp/koord-test-knob-bench-XXXXXX";
  if (!::mkdtemp(directory)) return std::printf("no directory for the journal\n"), 1;
  int failed = 0;
  {
    PodTree tree(*layout, kPods);
    const std::vector<std::string> dirs = cgroups_of(tree);
    failed += changed(*layout, dirs, directory);
    failed += unchanged(*layout, dirs, Mode::enforce);
    failed += unchanged(*layout, dirs, Mode::shadow);
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  return failed > 0;
}
