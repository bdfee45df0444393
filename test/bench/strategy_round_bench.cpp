// SPDX-License-Identifier: Apache-2.0
// One round of all installed strategies in one process, on a full node without changes. A round is each strategy's
// evaluate(), and the host's work on its plan in mode enforce. The reference is the cost of copying the same intents
// and comparing them with the intents of the last round. The target is the time of one round of all strategies. No
// round may write or record anything. The arguments are the shared objects.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/knob/governor.hpp"
#include "test/bench/full_node.hpp"
#include "test/bench/measure.hpp"
#include "test/bench/whole_agent.hpp"

using namespace koord;
using namespace koord::bench;

namespace {

constexpr int kSettling = 75, kRounds = 50;
constexpr double kAllowedMs = 10;

// Counts the originals that are announced before each write.
class CountedWrites final : public knob::MemoryOriginals {
 public:
  Result<void> keep(std::span<const knob::Original> originals) override {
    written += originals.size();
    return MemoryOriginals::keep(originals);
  }
  std::size_t written = 0;
};

struct Strategy {
  std::string name;
  std::unique_ptr<service::PluginContext> context;
  std::unique_ptr<test::FakeInstance> instance = {};
  std::vector<knob::IntentResult> results = {};
  knob::Plan plan = {};
  std::vector<double> deciding_ms = {}, governing_ms = {};
};

class Round {
 public:
  Round(FullNode& node, const std::vector<std::string>& shared_objects)
      : node_(node), governor_(node.host().clock(), *cgroup::Layout::detect(node.roots()), node.roots(), originals_) {
    governor_.set_node_mode(koord::Mode::enforce);
    for (const std::string& file : shared_objects) add(file);
  }

  void run() {
    node_.pass_second();
    double round = 0;
    for (Strategy& one : strategies_) round += decide(one) + govern(one);
    const double watching = 1e3 * cpu_seconds_of([&] { governor_.expire(); });
    watching_ms_.push_back(watching);
    round_ms_.push_back(round + watching);
  }

  void begin_measuring() {
    for (Strategy& one : strategies_) one.deciding_ms.clear(), one.governing_ms.clear();
    watching_ms_.clear(), round_ms_.clear();
    decisions_ = governor_.log().counts(), written_ = originals_.written;
  }

  // Prints the result. Returns whether the round wrote and recorded nothing.
  bool print(const char* title) {
    std::size_t intents = 0;
    double deciding = 0, governing = 0;
    std::printf("%s\n%-24s %8s %14s %14s\n", title, "", "intents", "evaluate() ms", "the host ms");
    for (const Strategy& one : strategies_) {
      std::printf("%-24s %8zu %14.2f %14.2f\n", one.name.c_str(), one.plan.size(), median(one.deciding_ms),
                  median(one.governing_ms));
      intents += one.plan.size(), deciding += median(one.deciding_ms), governing += median(one.governing_ms);
    }
    std::printf("%-24s %8zu %14.2f %14.2f\n", "all, one by one", intents, deciding, governing);
    std::printf("%-24s %8zu %14s %14.2f\n", "each second besides", governor_.held(), "", median(watching_ms_));
    const double bare = bare_ms();
    print_ratio("to hold the same intents against each other", median(round_ms_), "bare loop", bare, "ms", 10);
    print_ratio("one round of all strategies, 250 pods", median(round_ms_), "allowed", kAllowedMs, "ms", 1);
    std::printf("%-44s %10.3f ms\n", "  the longest of the rounds",
                *std::max_element(round_ms_.begin(), round_ms_.end()));
    const bool is_quiet = originals_.written == written_ && governor_.log().counts() == decisions_;
    if (!is_quiet)
      std::printf("FAILED: %zu knobs were written, or decisions made, though nothing has changed\n",
                  originals_.written - written_);
    return is_quiet;
  }

 private:
  void add(const std::string& shared_object) {
    const std::string name = std::filesystem::path(shared_object).stem();
    Strategy strategy{name, node_.host().make_context(name, workshop::all_services())};
    strategy.instance = std::make_unique<test::FakeInstance>(node_.host(), *strategy.context, shared_object);
    if (strategy.instance->init() == KOORD_OK)
      strategies_.push_back(std::move(strategy));
    else
      std::printf("%s is left out: %s\n", strategy.name.c_str(), strategy.instance->why().c_str());
  }

  double decide(Strategy& one) {
    const double ms = 1e3 * cpu_seconds_of([&] {
                        if (!one.results.empty()) one.instance->on_applied(std::exchange(one.results, {}));
                        if (one.instance->evaluate() != KOORD_OK)
                          std::printf("%s: %s\n", one.name.c_str(), one.instance->why().c_str());
                      });
    one.deciding_ms.push_back(ms);
    return ms;
  }

  // Does the host's work on a plan, as the agent does.
  double govern(Strategy& one) {
    service::PluginContext& context = *one.context;
    context.take_evictions();
    const decision::Proposer proposer{one.name, "main"};
    knob::Plan plan;
    const double ms = 1e3 * cpu_seconds_of([&] {
                        if (context.repeats_plan() && governor_.repeat(proposer)) return context.drop_plan();
                        plan = context.take_plan();
                        governor_.take(proposer, plan, [&one](std::vector<knob::IntentResult> results) {
                          std::move(results.begin(), results.end(), std::back_inserter(one.results));
                        });
                        one.plan = std::move(plan);
                      });
    one.governing_ms.push_back(ms);
    return ms;
  }

  // Measures copying all intents, as each proposal must, and comparing them.
  double bare_ms() const {
    std::vector<double> ms;
    for (int i = 0; i < kRounds; ++i)
      ms.push_back(1e3 * cpu_seconds_of([&] {
                     for (const Strategy& one : strategies_) {
                       const knob::Plan copy = one.plan;
                       if (copy != one.plan) std::abort();
                     }
                   }));
    return median(ms);
  }

  FullNode& node_;
  CountedWrites originals_;
  knob::Governor governor_;
  std::vector<Strategy> strategies_;
  std::vector<double> watching_ms_, round_ms_;
  std::map<decision::Outcome, std::uint64_t> decisions_;
  std::size_t written_ = 0;
};

bool measure(const char* title, Kernel kernel, const std::vector<std::string>& shared_objects) {
  FullNode node(kernel);
  for (int i = 0; i < 5; ++i) node.pass_second();
  const double before = resident_mib(::getpid());
  Round round(node, shared_objects);
  for (int i = 0; i < 3; ++i) round.run();
  const double resident = resident_mib(::getpid()) - before;
  for (int i = 0; i < kSettling; ++i) round.run();
  round.begin_measuring();
  for (int i = 0; i < kRounds; ++i) round.run();
  const bool is_quiet = round.print(title);
  std::printf("%-44s %10.1f MiB\n", "  strategies, plans and what is held, resident", resident);
  return is_quiet;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> shared_objects(argv + 1, argv + argc);
  if (shared_objects.empty()) {
    std::fprintf(stderr, "expected the strategies' .so files: %s plugins/qos-*/qos-*.so\n", argv[0]);
    return 2;
  }
  const bool is_quiet = measure("a kernel of the mainline, cgroup v2", Kernel::mainline, shared_objects);
  return measure("a kernel with all knobs there are", Kernel::every_knob, shared_objects) && is_quiet ? 0 : 1;
}
