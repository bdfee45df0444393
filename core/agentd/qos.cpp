// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/qos.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/base/parse.hpp"
#include "core/log/log.hpp"

namespace koord::agentd {
namespace {

using namespace std::chrono_literals;

constexpr log::Category qos_log{"qos"};

// Adopted knobs that no strategy proposes within this time are reverted. It is long enough for the first ticks of each
// strategy.
constexpr Duration kAdoptionTime = 30s;

bool writes(const config::Config& config) {
  const auto& settings = config.plugins.settings;
  return config.qos.mode == Mode::enforce || std::any_of(settings.begin(), settings.end(), [](const auto& one) {
           return one.second.mode == Mode::enforce;
         });
}

knob::Executor::Limits limits_of(const config::QosSettings& settings) {
  return {settings.refresh_period, settings.max_writes_per_second};
}

// KOORD_SHARED_CGROUP_TREE=1 is for tests, in which several agents run at the same time, each with its own cgroups.
std::vector<std::string> trees_of(const cgroup::Layout& layout) {
  const char* shared = std::getenv("KOORD_SHARED_CGROUP_TREE");
  return shared && std::string_view(shared) == "1" ? std::vector<std::string>() : layout.workload_trees();
}

// Returns for example "cpu.max of 'kubepods/besteffort'" or "vm.min_free_kbytes of the node".
std::string title_of(const knob::Undone& undone) {
  return std::string(undone.knob->name) + (undone.key.item.empty() ? "" : " " + undone.key.item) +
         (undone.key.cgroup_dir.empty() ? " of the node" : " of '" + undone.key.cgroup_dir + "'");
}

void log_failed_revert(const knob::Undone& undone) {
  log::error(
      qos_log,
      "{}, set by {}, cannot be reverted to '{}' and stays '{}': {}; trying again each second, and after the next start",
      title_of(undone), undone.plugin.empty() ? "an unknown plugin" : undone.plugin, undone.original, undone.done.after,
      undone.done.problem);
}

void log_undone(const std::vector<knob::Undone>& undone) {
  std::size_t reverted = 0, failed = 0;
  for (const knob::Undone& one : undone) {
    reverted += one.done.outcome == decision::Outcome::reverted;
    failed += one.done.outcome == decision::Outcome::failed;
    if (one.done.outcome == decision::Outcome::left)
      log::warn(qos_log, "{} is '{}', which is not of this agent, leaving it", title_of(one), one.done.after);
    if (one.done.outcome == decision::Outcome::failed && one.again)  // the first failure was logged immediately
      log::error(qos_log, "{} still cannot be reverted to '{}': {}", title_of(one), one.original, one.done.problem);
  }
  if (!undone.empty()) log::info(qos_log, "{} of {} knobs have their original value again", reverted, undone.size());
  if (failed > 0) log::error(qos_log, "{} knobs keep a value of this agent until the next start reverts them", failed);
}

}  // namespace

knob::Journal::Options journal_options(const config::Config& config, const cgroup::Layout& layout) {
  return {config.qos.directory, knob::boot_id(config.roots), trees_of(layout), config.roots.proc};
}

QosModule::QosModule(const Clock& clock, service::CapabilityBoard& capabilities, const cgroup::Layout& layout,
                     const config::Config& config)
    : clock_(clock),
      capabilities_(capabilities),
      directory_(config.qos.directory),
      on_exit_(config.qos.on_exit),
      may_write_(writes(config)),
      journal_(journal_options(config, layout), clock),
      governor_(clock, layout, config.roots, journal_) {
  governor_.set_node_mode(config.qos.mode);
  governor_.set_limits(limits_of(config.qos));
  governor_.on_failed_revert(log_failed_revert);
  if (!directory_.empty())
    governor_.keep_decisions({.path = directory_ + "/decisions.db", .max_bytes = config.qos.max_record_bytes});
}

QosModule::~QosModule() = default;

void QosModule::start(event::Loop& loop, event::WorkerPool& workers) {
  open();
  prepare();
  report_journal();
  strand_ = std::make_unique<event::Strand>(workers, "qos");
  timer_ = loop.every(1s, [this] {
    if (!stepping_.exchange(true) && !strand_->post([this] { step(); })) stepping_ = false;
  });
}

void QosModule::step() {
  if (!is_open_) open();
  governor_.expire();
  settle_start();
  if (!may_write_) journal_.release_tree();
  if (journal_.is_tree_taken()) prepare();
  journal_.tidy();
  report_journal();
  stepping_ = false;
}

void QosModule::open() {
  const Result<knob::Journal::Found> found = journal_.open();
  if (!found) return;
  is_open_ = true;
  for (const std::string& warning : found->warnings) log::warn(qos_log, "{}", warning);
  if (found->left.empty()) return;
  // A crash-looping agent must not hold knobs: from the second unsettled start on, it reverts immediately.
  const bool is_patient = found->on_purpose || found->unsettled_starts < 2;
  const std::vector<knob::KnobKey> unknown =
      governor_.adopt(found->left, is_patient ? kAdoptionTime : Duration(0), found->on_purpose);
  log::info(qos_log, "the previous agent {} {} knobs changed; {}", found->on_purpose ? "left" : "crashed and left",
            found->left.size() - unknown.size(),
            is_patient ? "those that no strategy proposes again within " + format_duration(kAdoptionTime) +
                             (found->on_purpose ? " and their last ttl" : "") + " are reverted"
                       : "they are reverted now");
  for (const knob::KnobKey& key : unknown)
    log::warn(qos_log, "{} of '{}' was written by an agent of another version, and this one cannot revert it",
              key.resource, key.cgroup_dir);
}

void QosModule::settle_start() {
  if (is_settled_ || !is_open_ || governor_.adopted() > 0) return;
  is_settled_ = true;
  journal_.settled();
}

// Prepares the journal at start, so that a problem with its file is known before the first write.
void QosModule::prepare() {
  if (!may_write_) return;
  const Result<void> prepared = journal_.prepare();  // journal_ keeps the problem
  static_cast<void>(prepared);
}

void QosModule::report_journal() {
  const std::string problem = journal_.problem();
  const auto change = problems_.update("journal", problem);
  if (std::exchange(is_reported_, true) && change == ProblemTracker::Change::none) return;
  const auto state = problem.empty()      ? service::CapabilityState::supported
                     : directory_.empty() ? service::CapabilityState::absent
                                          : service::CapabilityState::broken;
  const std::string detail =
      problem.empty() ? "original values are kept in '" + directory_ + "'" : "no knob is written: " + problem;
  capabilities_.set({{"knob-originals", state, detail, {}}});
  if (change == ProblemTracker::Change::begun && (may_write_ || !directory_.empty()))
    log::error(qos_log, "no knob is written: {}", problem);
  if (change == ProblemTracker::Change::over) log::info(qos_log, "knobs may be written again");
}

void QosModule::apply(const config::Config& config) {
  may_write_ = writes(config);
  governor_.set_node_mode(config.qos.mode);
  governor_.set_limits(limits_of(config.qos));
  if (strand_) strand_->post([this] { prepare(); });
}

void QosModule::stop() {
  timer_.reset();
  strand_.reset();
  if (on_exit_ == config::OnExit::keep) {
    const std::size_t held = governor_.held();
    governor_.leave();
    journal_.flush();
    journal_.leave();
    if (held > 0) log::info(qos_log, "leaving {} knobs as they are to the next agent", held);
    return;
  }
  log_undone(governor_.stop());
}

api::ModuleHealth QosModule::health() const {
  const std::string problem = journal_.problem();
  const std::string held = std::to_string(governor_.held()) + " knobs held";
  if (problem.empty() || (directory_.empty() && !may_write_)) return {"qos", true, "ok, " + held};
  return {"qos", true, "degraded, no knob is written: " + problem + "; " + held};
}

}  // namespace koord::agentd
