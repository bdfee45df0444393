// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/bench.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/host/hook_response.hpp"
#include "core/workshop/hook_questions.hpp"
#include "core/workshop/measured_child.hpp"
#include "core/workshop/player.hpp"
#include "core/workshop/run_node.hpp"

namespace koord::workshop {
namespace {

constexpr std::uint64_t kTracedTicks = 50;  // few, because a traced call is thousands of times slower

// Returns the private pages of a process in bytes; 0 if they cannot be read.
std::int64_t private_bytes_of(int pid) {
  Result<std::string> map = read_file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  std::int64_t kilobytes = 0;
  std::string_view rest = map ? std::string_view(*map) : "";
  while (auto line = next_field(rest, '\n'))
    if (line->starts_with("Private_")) {
      std::string_view value = line->substr(line->find(':') + 1);
      kilobytes += parse_int(next_word(value).value_or("0")).value_or(0);
    }
  return kilobytes * 1024;
}

// The started plugin on its node, in the measuring process.
class Subject {
 public:
  Subject(const BenchSettings& settings, std::unique_ptr<RunNode> node) : settings_(settings), node_(std::move(node)) {}

  Result<void> start(const OpenedPlugin& piece, const Loading& loading) {
    auto plugin = TRY(load(piece, loading));
    memory_host_ = std::make_unique<MemoryHost>(node_->roots(), node_->clock(), node_->name());
    TRY(node_->refresh(memory_host_->hub()));
    Player::Role role{.plugin_id = piece.manifest.id, .plugin = plugin, .config_json = settings_.config_json};
    role.class_index = TRY(find_class(*plugin, settings_.class_name));
    player_ = std::make_unique<Player>(*memory_host_, std::move(role));
    if (is_hook()) TRY(collect_questions());
    if (!is_hook() && !player_->info().ticks)
      return invalid("class '" + player_->info().name + "' has no ticks to measure");
    return well("start", player_->start());
  }

  bool is_hook() const { return player_->info().kind == "koord.runtime-hook/1"; }

  // Runs one tick, one period after the previous tick, or one answer of a hook. Measures only the call itself.
  Result<service::CallResult> tick() {
    if (is_hook()) return answer();
    TRY(node_->pass(settings_.period));
    const Time now = node_->clock().now();
    service::CallResult result = player_->tick(now, now + std::chrono::seconds(10));
    player_->context().take_plan();
    TRY(well("a tick", result));
    return result;
  }

  int process() const { return player_->runner().process() != 0 ? player_->runner().process() : ::getpid(); }

 private:
  Result<void> collect_questions() {
    view_ = memory_host_->services().views.of(memory_host_->hub().current());
    questions_ = hook_questions(player_->info().stages, *view_);
    if (questions_.empty()) return invalid("the node has no pod to ask the hook about: expected some in --pods");
    return {};
  }

  Result<service::CallResult> answer() {
    const HookQuestion& question = questions_[next_question_++ % questions_.size()];
    const koord_hook_request request =
        request_of(question, *view_, node_->clock().now() + std::chrono::milliseconds(500));
    host::HookResponse response(player_->context().host());
    const auto began = std::chrono::steady_clock::now();
    service::CallResult result = player_->runner().handle(request, response.table());
    if (result.wall == Duration()) result.wall = std::chrono::steady_clock::now() - began;
    TRY(well("an answer", result));
    return result;
  }

  static Result<void> well(const char* what, const service::CallResult& result) {
    if (!result.ok()) return invalid(std::string(what) + " failed: " + describe(result));
    return {};
  }

  const BenchSettings& settings_;
  std::unique_ptr<RunNode> node_;
  std::unique_ptr<MemoryHost> memory_host_;
  std::unique_ptr<Player> player_;
  service::SnapshotViewPtr view_;        // contains the data of the questions
  std::vector<HookQuestion> questions_;  // used for a hook
  std::size_t next_question_ = 0;
};

Duration quantile(std::vector<Duration>& sorted, double p) {
  return sorted[static_cast<std::size_t>(p * static_cast<double>(sorted.size() - 1))];
}

// The measured values. Contains no pointers, because the child returns it through shared memory.
struct Timed {
  std::int64_t start_ns, median_ns, p99_ns, private_bytes, growth_bytes;
  double cpu_ns, allocations;
  bool is_hook;
};

Result<void> measure(Timed& out, const OpenedPlugin& piece, const Loading& loading, std::unique_ptr<RunNode> node,
                     const BenchSettings& settings) {
  using Steady = std::chrono::steady_clock;
  Subject subject(settings, std::move(node));
  const auto began = Steady::now();
  TRY(subject.start(piece, loading));
  out.start_ns = Duration(Steady::now() - began).count();
  out.is_hook = subject.is_hook();
  TRY(subject.tick());
  std::vector<Duration> walls;
  walls.reserve(settings.ticks);
  out.private_bytes = private_bytes_of(subject.process());
  std::uint64_t allocations = 0;
  for (std::uint64_t i = 0; i < settings.ticks; ++i) {
    const std::uint64_t before = settings.allocations != nullptr ? settings.allocations() : 0;
    service::CallResult result = TRY(subject.tick());
    if (settings.allocations != nullptr) allocations += settings.allocations() - before;
    walls.push_back(result.wall);
    out.cpu_ns += static_cast<double>(result.cpu.count()) / static_cast<double>(settings.ticks);
  }
  out.growth_bytes = private_bytes_of(subject.process()) - out.private_bytes;
  out.allocations = static_cast<double>(allocations) / static_cast<double>(settings.ticks);
  std::sort(walls.begin(), walls.end());
  out.median_ns = quantile(walls, 0.5).count();
  out.p99_ns = quantile(walls, 0.99).count();
  return {};
}

}  // namespace

Result<BenchResult> bench(const OpenedPlugin& piece, const Loading& loading,
                          const std::function<Result<std::unique_ptr<RunNode>>()>& make_node,
                          const BenchSettings& settings) {
  if (settings.ticks == 0) return invalid("0 ticks, expected at least 1");
  MeasuredChild<Timed> timed;
  Result<void> measured =
      timed.run([&](Timed& out) -> Result<void> { return measure(out, piece, loading, TRY(make_node()), settings); });
  if (!measured) return std::move(measured).error();
  const Timed& result = timed.value();
  BenchResult found{.is_hook = result.is_hook,
                    .start = Duration(result.start_ns),
                    .median = Duration(result.median_ns),
                    .p99 = Duration(result.p99_ns),
                    .cpu_ns = result.cpu_ns,
                    .private_bytes = result.private_bytes,
                    .growth_bytes = result.growth_bytes};
  const bool here = loading.isolation == config::Isolation::in_process;
  if (here && settings.allocations != nullptr) found.allocations = result.allocations;

  MeasuredChild<CountedCalls> traced;
  Result<void> counted = traced.run_traced([&](CountedCalls& calls) -> Result<void> {
    Subject subject(settings, TRY(make_node()));
    TRY(subject.start(piece, loading));
    TRY(subject.tick());
    calls.counting = true;
    Result<void> done;
    for (std::uint64_t i = 0; i < kTracedTicks && done; ++i)
      if (auto ticked = subject.tick(); !ticked) done = std::move(ticked).error();
    calls.counting = false;
    return done;
  });
  if (counted) found.system_calls = static_cast<double>(traced.value().calls) / static_cast<double>(kTracedTicks);
  return found;
}

}  // namespace koord::workshop
