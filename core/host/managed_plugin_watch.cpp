// SPDX-License-Identifier: Apache-2.0
// Watches a running plugin: its usage, its events, its state.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/base/parse.hpp"
#include "core/host/managed_plugin.hpp"
#include "core/host/process_use.hpp"
#include "core/log/log.hpp"
#include "core/service/shared_services.hpp"

namespace koord::host {
namespace {

constexpr log::Category watch_log{"plugin"};

// The pause after a measurement, in durations of that measurement. With many files a measurement takes long; the pauses
// limit all measurements to a fifth of a core.
constexpr int kStateRest = 4;

Time steady_now() { return Time{std::chrono::steady_clock::now().time_since_epoch()}; }

// Returns the severity of a state. A plugin has the most severe state of its classes.
int severity(PluginState state) {
  switch (state) {
    case PluginState::wedged:
      return 6;
    case PluginState::parked:
      return 5;
    case PluginState::failed:
      return 4;
    case PluginState::absent:
      return 3;
    case PluginState::running:
      return 1;
    case PluginState::stopped:
      return 0;
    default:
      return 2;  // the instance is between two states
  }
}

bool has_ended(PluginState state) {
  return state == PluginState::stopped || state == PluginState::failed || state == PluginState::parked ||
         state == PluginState::absent;
}

void add_instance(PluginStatus& status, InstanceStatus instance) {
  bool worse = status.instances.empty() || severity(instance.state) > severity(status.state);
  if (worse) {
    status.state = instance.state;
    status.reason = instance.reason;
  } else if (instance.state == status.state && status.reason.empty()) {
    status.reason = instance.reason;
  }
  status.counts += instance.counts;
  status.refused_configs += instance.refused_configs;
  status.last_duration = std::max(status.last_duration, instance.last_duration);
  if (!instance.last_error.empty()) status.last_error = instance.last_error;
  status.instances.push_back(std::move(instance));
}

// Returns the layers that every process of a plugin has, and the capabilities that at least one process has.
std::optional<IsolationLevel> present_isolation(const std::vector<InstanceStatus>& instances) {
  std::optional<IsolationLevel> present;
  for (const InstanceStatus& instance : instances) {
    if (!instance.isolation) continue;
    if (!present) present.emplace();
    present->missing.insert(instance.isolation->missing.begin(), instance.isolation->missing.end());
    present->capabilities |= instance.isolation->capabilities;
  }
  return present;
}

Use use_of(const std::vector<std::shared_ptr<Supervisor>>& supervisors) {
  Use use;
  for (const auto& supervisor : supervisors) {
    const InstanceStatus status = supervisor->instance().status();
    use.tick = std::max(use.tick, status.last_duration);
    use.processes.push_back(status.process);
    if (status.process == 0) {
      use.cpu += status.counts.cpu;
    } else if (Result<ProcessUse> of_process = use_of_process(status.process)) {  // it may have ended meanwhile
      use.cpu += of_process->cpu + status.service_cpu;
      use.service_cpu += status.service_cpu;
      use.memory_bytes = use.memory_bytes.value_or(0) + of_process->memory_bytes;
    }
  }
  return use;
}

// Returns the longest deadline of the classes' ticks; zero: no class has ticks.
Duration tick_deadline(const std::vector<std::shared_ptr<Supervisor>>& supervisors) {
  Duration longest{};
  for (const auto& supervisor : supervisors)
    if (supervisor->instance().info().ticks) longest = std::max(longest, supervisor->instance().deadline());
  return longest;
}

}  // namespace

void ManagedPlugin::check_budget() {
  const Supervisors all = supervisors();
  if (all.empty() || ended()) return;
  // At least two ticks are between two polls. Otherwise the measured usage would vary with the ticks.
  Duration longest{};
  for (const auto& supervisor : all)
    longest = std::max(longest, supervisor->instance().info().ticks ? supervisor->period() : Duration());
  const Time time = steady_now();  // CPU usage is measured in real time
  if (budget_checked_ && time - *budget_checked_ < 2 * longest) return;
  budget_checked_ = time;
  const std::string& id = file_.manifest.id;
  Use use = use_of(all);
  use.series = parts_.services.metrics.live_series(id);
  const Allowance allowance{.cpu_millis = settings_.max_cpu_millis,
                            .memory_bytes = use.memory_bytes ? settings_.max_memory : 0,
                            .series = settings_.max_series,
                            .tick = tick_deadline(all)};
  Budget::Verdict verdict;
  unsigned before, now;
  {
    std::lock_guard lock(mutex_);
    before = budget_.status().slowdown;
    verdict = budget_.measure(time, use, allowance);
    now = budget_.status().slowdown;
  }
  if (!verdict.warning.empty()) log::warn(watch_log, "{} {}", id, verdict.warning);
  if (now != before) log::info(watch_log, "{} ticks at {} times its period, before at {} times", id, now, before);
  pace();
  if (verdict.breach.empty()) return;
  for (const auto& supervisor : all) supervisor->instance().fail(verdict.breach);
}

void ManagedPlugin::check_state_size() {
  const std::uint64_t limit = settings_.max_state;
  if (!parts_.measure_state || limit == 0 || measuring_state_ || file_.origin != load::Origin::third_party || ended())
    return;
  if (steady_now() < state_rests_until_) return;
  measuring_state_ = measuring_.post([weak = weak_from_this(), &parts = parts_, id = file_.manifest.id, limit] {
    const Time begin = steady_now();
    Result<std::uint64_t> bytes = parts.measure_state(id, limit);
    parts.loop.post([weak, limit, bytes = std::move(bytes), took = steady_now() - begin] {
      if (const auto self = weak.lock()) self->judge_state_size(bytes, limit, took);
    });
  });
}

// Ends a plugin with too large a state directory immediately, because a process that is asked to stop would continue to
// write. After its restart, the plugin has the time until the next measurement to clear the directory.
void ManagedPlugin::judge_state_size(const Result<std::uint64_t>& bytes, std::uint64_t limit, Duration took) {
  measuring_state_ = false;
  state_rests_until_ = steady_now() + kStateRest * took;
  if ((bytes && *bytes <= limit) || ended()) return;
  const std::string reason =
      bytes ? "its state directory has more than " + std::to_string(limit >> 10) + " KiB (maxState)"
            : "its state directory cannot be measured (maxState): " + bytes.error().message();
  for (const auto& supervisor : supervisors()) supervisor->instance().fail_at_once(reason);
}

void ManagedPlugin::set_agent_slowdown(unsigned times) {
  {
    std::lock_guard lock(mutex_);
    agent_slowdown_ = times;
  }
  pace();
}

// Slows only advisors down to save the agent's CPU. Decisions are few, and other work waits for them.
void ManagedPlugin::pace() {
  std::unique_lock lock(mutex_);
  const unsigned own = budget_.status().slowdown, agent = agent_slowdown_;
  lock.unlock();
  for (const auto& supervisor : supervisors())
    supervisor->set_slowdown(supervisor->instance().info().is_advisor() ? std::max(own, agent) : own);
}

void ManagedPlugin::restart() {
  for (const auto& supervisor : supervisors()) supervisor->restart();
}

void ManagedPlugin::inherit(const PluginStatus& before) {
  std::lock_guard lock(mutex_);
  inherited_.counts = before.counts;
  inherited_.restarts = before.restarts;
  inherited_.reloads = before.reloads + 1;
  inherited_.refused_reloads = before.refused_reloads;
  inherited_.refused_configs = before.refused_configs;
}

void ManagedPlugin::count_refused_reload() {
  std::lock_guard lock(mutex_);
  ++inherited_.refused_reloads;
}

void ManagedPlugin::notify(std::uint32_t changed, const state::Versions& versions) {
  for (const auto& supervisor : supervisors()) supervisor->instance().notify(changed, versions);
}

void ManagedPlugin::notify_verdicts(std::uint64_t generation) {
  for (const auto& supervisor : supervisors()) supervisor->instance().notify_verdicts(generation);
}

std::vector<HookTarget> ManagedPlugin::hooks(std::uint32_t stage) const {
  std::vector<HookTarget> hooks;
  std::lock_guard lock(mutex_);
  for (const auto& supervisor : supervisors_) {
    Instance& instance = supervisor->instance();
    if ((instance.info().stages & stage) == 0 || instance.state() != PluginState::running) continue;
    hooks.push_back({file_.manifest.id, instance.info().name, instance.shared_from_this(), instance.info().stages,
                     instance.deadline(), must_answer_});
  }
  return hooks;
}

bool ManagedPlugin::ended() const {
  Supervisors all;
  {
    std::lock_guard lock(mutex_);
    if (mappings_ > 0) return false;
    all = supervisors_;
  }
  return std::all_of(all.begin(), all.end(), [](const auto& s) { return s->instance().ended(); });
}

bool ManagedPlugin::is_gone() const {
  const Supervisors all = supervisors();
  return ended() && std::none_of(all.begin(), all.end(), [](const auto& supervisor) {
           return supervisor->instance().state() == PluginState::wedged;
         });
}

void ManagedPlugin::end_processes() {
  for (const auto& supervisor : supervisors()) supervisor->instance().end_process();
}

bool ManagedPlugin::write_off_rest(const std::string& reason) {
  for (const auto& supervisor : supervisors()) {
    if (!supervisor->instance().ended()) supervisor->instance().write_off(reason);
  }
  Supervisors all = supervisors();
  std::lock_guard lock(mutex_);
  return mappings_ == 0 && std::none_of(all.begin(), all.end(), [](const auto& supervisor) {
           return supervisor->instance().state() == PluginState::wedged;
         });
}

void ManagedPlugin::set_note(const std::string& note) {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(note_, note) == note) return;
  }
  parts_.changed();
}

void ManagedPlugin::warn_of_root() const {
  const CapabilityMask root = root_capabilities(settings_.capabilities);
  if (root == 0 || !mapped_.plugin->expendable()) return;
  log::warn(watch_log,
            "{} is granted {}, which amounts to root: its layers do not confine it, plugins.minimumIsolation or not",
            file_.manifest.id, format_capabilities(root));
}

void ManagedPlugin::set_grants(const config::PluginSettings& settings) {
  std::lock_guard lock(mutex_);
  grants_ = {.capabilities = settings.capabilities,
             .network = settings.network,
             .files = settings.files,
             .cgroups = settings.cgroups,
             .read_paths = settings.read_paths,
             .write_paths = settings.write_paths,
             .hook_fields = settings.hook_fields};
}

PluginStatus ManagedPlugin::status() const {
  const load::Manifest& manifest = file_.manifest;
  PluginStatus status;
  status.id = manifest.id;
  status.version = manifest.version;
  status.path = file_.path;
  status.description = manifest.description;
  status.kinds = manifest.kinds;
  status.gate = join(manifest.gates, ",");
  status.stage = manifest.stage;
  status.series = parts_.services.metrics.live_series(manifest.id);
  status.dropped_series = parts_.services.metrics.dropped_series(manifest.id);
  std::lock_guard lock(mutex_);
  status.enabled = enabled_;
  status.required = required_;
  status.state = state_;
  status.reason = reason_;
  status.counts = inherited_.counts;
  status.budget = budget_.status();
  status.isolation = isolation_;
  status.grants = grants_;
  status.restarts = inherited_.restarts;
  status.reloads = inherited_.reloads;
  status.refused_reloads = inherited_.refused_reloads;
  status.refused_configs = inherited_.refused_configs;
  for (const auto& supervisor : supervisors_) {
    add_instance(status, supervisor->status());
    status.restarts += supervisor->restarts();
    status.period = supervisor->period();
  }
  if (const auto present = present_isolation(status.instances)) status.isolation = present;
  if (!refusal_.empty()) {
    status.state = PluginState::refused;
    status.reason = refusal_;
  }
  if (!note_.empty() && status.reason.empty()) status.reason = note_;
  if (status.reason.empty() && status.budget.slowdown > 1)
    status.reason = "near its budget, ticks at " + std::to_string(status.budget.slowdown) + " times its period";
  const bool has_advisor = std::any_of(supervisors_.begin(), supervisors_.end(), [](const auto& supervisor) {
    return supervisor->instance().info().is_advisor();
  });
  if (has_advisor && agent_slowdown_ > status.budget.slowdown) {
    status.budget.slowdown = agent_slowdown_;
    if (status.reason.empty())
      status.reason = "the agent is beyond its CPU budget, advisors tick at " + std::to_string(agent_slowdown_) +
                      " times their periods";
  }
  if (!enabled_ && has_ended(status.state)) {
    status.state = PluginState::disabled;
    status.reason.clear();
  }
  return status;
}

}  // namespace koord::host
