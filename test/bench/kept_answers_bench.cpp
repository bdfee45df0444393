// SPDX-License-Identifier: Apache-2.0
// An update of the stored answers of two hooks for 250 pods of three containers without a change, on cgroups of this
// kernel. The update must make no write and take at most 5 ms. Compared with the first update, which asks about all
// containers and writes. Needs root.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "core/base/manual_clock.hpp"
#include "core/hook/kept_answers.hpp"
#include "core/knob/governor.hpp"
#include "test/bench/measure.hpp"
#include "test/bench/pod_tree.hpp"

using namespace koord;
using namespace koord::bench;

namespace {

constexpr int kPods = 250, kRounds = 21;
constexpr double kMostMs = 5;

// Counts the originals that are announced before each write.
struct CountedOriginals final : knob::MemoryOriginals {
  std::size_t writes = 0;
  Result<void> keep(std::span<const knob::Original> originals) override {
    writes += originals.size();
    return MemoryOriginals::keep(originals);
  }
};

state::SnapshotPtr snapshot_of(const PodTree& tree) {
  auto snapshot = std::make_shared<state::Snapshot>();
  std::vector<state::Pod> pods = tree.pods();
  std::uint64_t handle = 0;
  for (state::Pod& pod : pods) {
    pod.handle = ++handle;
    pod.phase = state::Phase::running;
    for (state::Container& container : pod.containers) container.handle = ++handle;
  }
  snapshot->pods = std::move(pods);
  snapshot->versions.pods = 1;
  return snapshot;
}

// Returns the answer of hook-batch-resource or hook-cpu-normalization for a container.
host::HookReply answer_of(const hook::RunningHook& running) {
  host::HookReply reply;
  reply.kind = host::HookReply::Kind::answered;
  if (running.name == "batch")
    reply.settings.fields = {
        {"linux.cpu.shares", "512"}, {"linux.cpu.quota", "80000"}, {"linux.memory.limit", "67108864"}};
  if (running.name == "normalization") reply.settings.scales = {{"linux.cpu.quota", 0.8}};
  return reply;
}

int measure(const cgroup::Layout& layout) {
  PodTree tree(layout, kPods);
  ManualClock clock;
  CountedOriginals originals;
  knob::Governor governor(clock, layout, NodeRoots(), originals);
  governor.set_node_mode(koord::Mode::enforce);
  std::size_t asked = 0;
  hook::KeptAnswers answers(
      {.running =
           [] {
             std::vector<hook::RunningHook> hooks;
             for (const char* name : {"batch", "normalization"})
               hooks.push_back({std::string("hook-") + name, name, KOORD_STAGE_PRE_CREATE_CONTAINER, 1});
             return hooks;
           },
       .has_ended = [](const decision::Proposer&) { return false; },
       .ask =
           [&](const hook::RunningHook& running, const std::shared_ptr<const host::HookSubject>&) {
             ++asked;
             return answer_of(running);
           },
       .creation_fields = {},
       .plans = governor,
       .clock = clock});
  const state::SnapshotPtr snapshot = snapshot_of(tree);
  const double first = 1000 * cpu_seconds_of([&] { answers.update(snapshot); });
  const std::size_t asked_first = asked, written_first = originals.writes;
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    clock.advance(std::chrono::seconds(1));
    rounds.push_back(1000 * cpu_seconds_of([&] { answers.update(snapshot); }));
  }
  std::printf("%zu answers, %zu writes in the first update; then %zu answers, %zu writes\n", asked_first, written_first,
              asked - asked_first, originals.writes - written_first);
  print_ratio("NR5 kept answers of 250 pods, nothing new", median(rounds), "first update", first, "ms of CPU", 1);
  for (const auto& [outcome, intents] : governor.active_intents_by_result())
    std::printf("%zu intents: %s\n", intents, std::string(decision::name_of(outcome)).c_str());
  const bool is_still = asked == asked_first && originals.writes == written_first;
  governor.stop();
  return is_still && written_first > 0 && median(rounds) <= kMostMs ? 0 : 1;
}

}  // namespace

int main() {
  if (::geteuid() != 0) return std::printf("skipped: not root\n"), 77;
  Result<cgroup::Layout> layout = cgroup::Layout::detect(NodeRoots());
  if (!layout) return std::printf("skipped: %s\n", layout.error().message().c_str()), 77;
  return measure(*layout);
}
