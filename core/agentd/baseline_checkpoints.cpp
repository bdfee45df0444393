// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/baseline_checkpoints.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/agentd/state_log.hpp"
#include "core/api/verdict_judges.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"
#include "core/json/scanner.hpp"

namespace koord::agentd {
namespace {

using analysis::BaselineOf;

constexpr const char* kCheckpointsPath = "/apis/interference.koordinator.sh/v1alpha1/interferencemetriccheckpoints";
constexpr std::size_t kMostOfferedBytes = 256u << 10;

std::int64_t unix_seconds(const Clock& clock) { return clock.wall_ns() / 1'000'000'000; }

}  // namespace

CheckpointUse checkpoint_use(std::string_view plugin_config) {
  const auto config = read_json(plugin_config);
  if (!config) return CheckpointUse::none;
  const std::string use = JsonField(*config)["checkpoints"].text().value_or("none");
  if (use == "write") return CheckpointUse::write;
  return use == "read" ? CheckpointUse::read : CheckpointUse::none;
}

BaselineCheckpoints::BaselineCheckpoints(const Services& services, std::string node, std::function<CheckpointUse()> use,
                                         const Limits& limits)
    : services_(services), node_(std::move(node)), use_(std::move(use)), limits_(limits) {}

void BaselineCheckpoints::start() {
  timer_ = services_.loop.every(limits_.poll, [this] { poll(); });
}

void BaselineCheckpoints::stop() {
  timer_.reset();
  reading_.reset();
  writing_.reset();
}

void BaselineCheckpoints::poll() {
  const CheckpointUse use = use_();
  kube::Client* client = services_.client();
  if (use == CheckpointUse::none || client == nullptr) return;
  const state::SnapshotPtr snapshot = services_.hub.current();
  if (std::exchange(seen_pods_, snapshot->versions.pods) != snapshot->versions.pods)
    workloads_ = state::cluster_workloads(*snapshot);
  if (!reading_) read_next(*client);
  if (use == CheckpointUse::write && !writing_) write_next(*client);
}

// Reads the checkpoints one after the other, so that a full node does not send hundreds of requests at the same time.
void BaselineCheckpoints::read_next(kube::Client& client) {
  std::erase_if(asked_, [this](const auto& one) { return !workloads_.contains(one.first); });
  std::erase_if(offered_, [this](const auto& one) { return !workloads_.contains(one.first); });
  const std::map<std::string, Known> known = known_baselines();
  for (const auto& [workload, in_cluster] : workloads_) {
    if (asked_.size() >= limits_.workloads) return;
    if (asked_.contains(workload)) continue;
    const auto own = known.find(workload);
    if (own != known.end() && own->second.cpu.windows >= limits_.windows) {
      asked_[workload] = services_.clock.now();
      continue;
    }
    kube::Call call = kube::get_call(kCheckpointsPath, state::checkpoint_name(in_cluster));
    reading_ = client.send(std::move(call),
                           [this, workload = workload, in_cluster = in_cluster](const Result<kube::Reply>& reply) {
                             BaselineCheckpoints& self = *this;  // the lambda is destroyed with reading_
                             const bool is_answered = self.take(workload, in_cluster, reply);
                             self.reading_.reset();
                             kube::Client* next = self.services_.client();
                             if (is_answered && next != nullptr) self.read_next(*next);
                           });
    return;
  }
}

// Stores the answer. After an error the next poll reads the checkpoint again.
bool BaselineCheckpoints::take(const std::string& workload, const std::string& in_cluster,
                               const Result<kube::Reply>& reply) {
  if (!reply) return false;
  if (!reply->ok() && reply->status != 404) {
    log_problem("reading is refused with status " + std::to_string(reply->status));
    return false;
  }
  asked_[workload] = services_.clock.now();
  if (reply->status == 404) return true;
  Result<state::BaselineCheckpoint> checkpoint = state::parse_checkpoint(reply->body);
  if (checkpoint && checkpoint->workload != in_cluster)
    checkpoint = invalid("spec.workload is '" + checkpoint->workload + "', expected '" + in_cluster + "'");
  if (checkpoint)
    offer(workload, *std::move(checkpoint));
  else
    log_problem("'" + state::checkpoint_name(in_cluster) + "': " + checkpoint.error().message() +
                "; nothing is known of " + in_cluster);
  return true;
}

void BaselineCheckpoints::offer(const std::string& workload, state::BaselineCheckpoint checkpoint) {
  const auto of_node = [&](analysis::SavedBaseline& baseline) {
    baseline.workload = workload;
    baseline.seen = services_.clock.now();
  };
  of_node(checkpoint.cpu);
  if (checkpoint.memory) of_node(*checkpoint.memory);
  offered_.insert_or_assign(workload, Known{std::move(checkpoint.cpu), std::move(checkpoint.memory)});
  std::vector<analysis::SavedBaseline> cpu, memory;
  for (const auto& one : offered_) {
    cpu.push_back(one.second.cpu);
    if (one.second.memory) memory.push_back(*one.second.memory);
  }
  put(analysis::kOfferedBaselinesKey, std::move(cpu), BaselineOf::cpu);
  put(analysis::kOfferedMemoryBaselinesKey, std::move(memory), BaselineOf::memory);
}

void BaselineCheckpoints::put(const char* key, std::vector<analysis::SavedBaseline> baselines, BaselineOf resource) {
  const std::string text = analysis::write_baselines(std::move(baselines), kMostOfferedBytes, resource);
  if (auto done = services_.store.put(key, std::as_bytes(std::span(text))); !done)
    log_problem("they are not passed on: " + done.error().message());
}

std::vector<analysis::SavedBaseline> BaselineCheckpoints::stored(const char* key, BaselineOf resource) const {
  const auto bytes = services_.store.get(std::string(api::kJudge) + "/" + key);
  if (!bytes) return {};
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  return analysis::read_baselines(text, resource).baselines;
}

// Returns the baselines that the plugin has stored last.
std::map<std::string, BaselineCheckpoints::Known> BaselineCheckpoints::known_baselines() const {
  std::map<std::string, Known> known;
  for (analysis::SavedBaseline& one : stored(analysis::kBaselinesKey, BaselineOf::cpu)) {
    std::string workload = one.workload;
    known.insert_or_assign(std::move(workload), Known{std::move(one), std::nullopt});
  }
  for (analysis::SavedBaseline& one : stored(analysis::kMemoryBaselinesKey, BaselineOf::memory))
    if (const auto at = known.find(one.workload); at != known.end()) at->second.memory = std::move(one);
  return known;
}

// Writes one checkpoint for each poll.
void BaselineCheckpoints::write_next(kube::Client& client) {
  std::erase_if(written_, [this](const auto& one) {
    return std::none_of(workloads_.begin(), workloads_.end(),
                        [&](const auto& workload) { return workload.second == one.first; });
  });
  const auto is_enough = [this](const analysis::SavedBaseline& baseline) {
    return baseline.windows >= limits_.windows && !baseline.weights.empty();
  };
  for (auto& [workload, known] : known_baselines()) {
    const auto found = workloads_.find(workload);
    if (found == workloads_.end() || !is_enough(known.cpu)) continue;
    if (known.memory && !is_enough(*known.memory)) known.memory.reset();
    if (write(client, found->second, std::move(known))) return;
  }
}

// Returns false if the checkpoint is not due.
bool BaselineCheckpoints::write(kube::Client& client, const std::string& in_cluster, Known known) {
  known.cpu.workload = in_cluster;
  if (known.memory) known.memory->workload = in_cluster;
  const state::BaselineCheckpoint checkpoint{in_cluster, node_, unix_seconds(services_.clock), std::move(known.cpu),
                                             std::move(known.memory)};
  const auto last = written_.find(in_cluster);
  const auto ours = std::count_if(written_.begin(), written_.end(), [](const auto& one) { return one.second.is_ours; });
  if (last == written_.end() && static_cast<std::size_t>(ours) >= limits_.objects) return false;
  if (last != written_.end()) {
    if (services_.clock.now() - last->second.at < limits_.repeat) return false;
    const state::BaselineCheckpoint& before = last->second.checkpoint;
    if (!before.cpu.weights.empty() && !state::differs_materially(before, checkpoint)) return false;
  }
  kube::Update update;
  update.collection = kCheckpointsPath;
  update.name = state::checkpoint_name(in_cluster);
  update.status = false;
  update.missing = state::checkpoint_object(checkpoint);
  const std::int64_t abandoned = std::chrono::duration_cast<std::chrono::seconds>(limits_.abandoned).count();
  const auto is_written_here = std::make_shared<bool>(true);
  update.change = [checkpoint, abandoned,
                   is_written_here](std::string_view newest) -> Result<std::optional<std::string>> {
    const Result<state::BaselineCheckpoint> found = state::parse_checkpoint(newest);
    const bool is_ours = !found || found->node == checkpoint.node || found->workload != checkpoint.workload ||
                         checkpoint.updated - found->updated >= abandoned;
    *is_written_here = is_ours;
    if (!is_ours || (found && found->node == checkpoint.node && !state::differs_materially(*found, checkpoint)))
      return std::optional<std::string>();
    std::string changed = TRY(with_json_member(newest, "spec", state::checkpoint_spec(checkpoint)));
    return std::optional<std::string>(std::move(changed));
  };
  writing_ = kube::update(services_.loop, client, std::move(update),
                          [this, checkpoint, is_written_here](const Result<kube::Written>& written) {
                            finish(checkpoint, *is_written_here, written);
                            writing_.reset();
                          });
  return true;
}

// Records the result of a write. A failed write is repeated after some time.
void BaselineCheckpoints::finish(const state::BaselineCheckpoint& checkpoint, bool is_ours,
                                 const Result<kube::Written>& written) {
  Written& last = written_[checkpoint.workload];
  last.at = services_.clock.now();
  if (!written) return log_problem("writing failed: " + written.error().message());
  if (written->outcome == kube::Written::Outcome::refused)
    return log_problem("writing is refused: " + written->refusal.message);
  last.is_ours = is_ours;
  last.checkpoint = checkpoint;
}

void BaselineCheckpoints::log_problem(const std::string& problem) {
  if (logged_.update("checkpoints", problem) == ProblemTracker::Change::begun)
    log::warn(state_log, "InterferenceMetricCheckpoint {}", problem);
}

}  // namespace koord::agentd
