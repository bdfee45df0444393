// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/hook_questions.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "core/agentd/hooks.hpp"
#include "core/hook/creation.hpp"
#include "core/log/log.hpp"

namespace koord::agentd {
namespace {

constexpr log::Category question_log{"hooks"};

// There are several threads, so that one slow hook delays other requests less. A hook may get requests about several
// containers at the same time.
constexpr std::size_t kThreads = 4;

// Sets the cgroup of an existing container if the runtime did not send it.
void add_known_cgroup(state::Container& container, const state::Pod& pod) {
  if (!container.cgroup_dir.empty() || container.id.empty()) return;
  for (const state::Container& known : pod.containers)
    if (known.id.ends_with("://" + container.id)) container.cgroup_dir = known.cgroup_dir;
}

}  // namespace

// A request that the hooks are answering.
struct HookQuestions::Asked {
  host::HookRequest request;
  state::Pod pod;  // a copy, because the pod of `request` is moved away
  std::optional<state::Container> container;
  hook::Requested requested;
  bool has_own_cpus = false;
  std::string_view asked_by;
  std::chrono::steady_clock::time_point due;

  std::string title() const {
    return container ? "container " + container->name + " of " + state::full_name(pod) : "pod " + state::full_name(pod);
  }
};

HookQuestions::HookQuestions(const Services& services, const config::HookConfig& config, hook::Creations& creations,
                             Find find)
    : services_(services),
      deadline_(config.deadline),
      creations_(creations),
      find_(std::move(find)),
      own_uid_(own_pod_uid()),
      is_v2_(services.layout.hierarchy() == cgroup::Hierarchy::v2),
      dispatcher_({.hooks = [this](std::uint32_t stage) { return hooks(stage); },
                   .clock = services.clock,
                   .metrics = services.metrics,
                   .statistics = services.hook_statistics}) {}

HookQuestions::~HookQuestions() { stop(); }

void HookQuestions::stop() {
  has_ended_ = true;
  std::unique_ptr<event::WorkerPool> threads;
  {
    const std::lock_guard lock(mutex_);
    threads = std::move(threads_);
  }
}

// Returns the hooks of this stage, without hooks that are switched off. Limits their deadlines to the runtime's
// deadline.
std::vector<host::HookTarget> HookQuestions::hooks(std::uint32_t stage) const {
  std::vector<host::HookTarget> targets = find_(stage);
  std::erase_if(targets,
                [&](const host::HookTarget& target) { return services_.governor.mode(target.plugin) == Mode::off; });
  for (host::HookTarget& target : targets) {
    target.in_shadow = services_.governor.mode(target.plugin) != Mode::enforce;
    target.deadline = std::min(target.deadline, deadline_ * 8 / 10);
  }
  return targets;
}

bool HookQuestions::ask(const HookQuestion& question, Then then) {
  // The modes are read later, on the thread that asks the hooks, because the governor's lock may be held for a write.
  if (find_(question.stage).empty()) return false;
  const state::SnapshotPtr snapshot = services_.hub.current();
  auto asked = std::make_shared<Asked>();
  asked->asked_by = question.asked_by;
  asked->due = std::chrono::steady_clock::now() + deadline_;
  asked->pod = hook::pod_of(question.pod, *snapshot);
  asked->request = {.stage = question.stage, .pod = asked->pod, .node_slo = snapshot->node_slo};
  asked->request.cri_json =
      question.container == nullptr ? hook::cri_json_of(question.pod) : hook::cri_json_of(*question.container);
  if (question.container != nullptr) {
    asked->container = hook::container_of(*question.container, asked->pod);
    add_known_cgroup(*asked->container, asked->pod);
    asked->request.container = asked->container;
    asked->requested = hook::requested_of(*question.container);
  }
  if (question.requested != nullptr) asked->requested.resources = *question.requested;
  if (is_bypassed(asked->pod)) return false;
  if (asked->container)
    asked->has_own_cpus = hook::has_own_cpus(*snapshot, asked->pod, *asked->container, asked->requested.resources);
  if (post(kMostQuestions, [this, asked, then = std::move(then)] { answer(asked, then); })) return true;
  count_bypassed("busy");
  return false;
}

bool HookQuestions::is_bypassed(const state::Pod& pod) const {
  const std::string why = hook::why_bypassed(pod, own_uid_);
  if (why.empty()) return false;
  count_bypassed("pod");
  log::debug(question_log, "{}: hooks are not asked: {}", state::full_name(pod), why);
  return true;
}

void HookQuestions::count_bypassed(const char* reason) const {
  services_.metrics
      .counter("host_hooks_bypassed_total",
               "Pods and containers that hooks were not asked about; reason pod: the agent's own, critical to the node "
               "or with hands off; busy: hooks had too many questions.",
               {{"reason", reason}})
      .add();
}

void HookQuestions::post(std::function<void()> task) { post(2 * kMostQuestions, std::move(task)); }

bool HookQuestions::post(std::size_t most, std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (has_ended_ || waiting_ >= most) return false;
  if (!threads_) threads_ = std::make_unique<event::WorkerPool>(kThreads);
  ++waiting_;
  threads_->post([this, task = std::move(task)] {
    task();
    --waiting_;
  });
  return true;
}

void HookQuestions::answer(const std::shared_ptr<Asked>& asked, const Then& then) {
  const bool is_late = std::chrono::steady_clock::now() >= asked->due;
  if (is_late) count_bypassed("busy");
  if (is_late || has_ended_) return then({});
  host::HookVerdict answered = dispatcher_.dispatch(std::move(asked->request));
  if (asked->has_own_cpus) hook::drop_throttling(answered);
  host::HookVerdict given = answered;
  hook::drop_hands_off(given, asked->pod);
  hook::choose_settings(given);
  log_verdict(given, *asked);
  then(given);
  record(*asked, answered, given);
}

// Returns the parts of a knob that plugins other than the asked ones propose. A hook that gave no answer counts as not
// asked, so its kept answer is used.
hook::OtherPartsOf HookQuestions::other_parts(std::uint32_t stage, std::string cgroup_dir,
                                              const host::HookVerdict& verdict) const {
  std::set<std::string> asked;
  for (const host::HookTarget& target : find_(stage)) asked.insert(target.plugin);
  for (const host::HookVerdict::Silence& silence : verdict.silent) asked.erase(silence.plugin);
  return [this, asked = std::move(asked), cgroup_dir = std::move(cgroup_dir)](const knob::Knob& knob) {
    return services_.governor.other_parts(knob, cgroup_dir, asked);
  };
}

void HookQuestions::remember(hook::CreationRecord record) {
  const Result<void> written = creations_.remember(std::move(record));
  const std::lock_guard lock(mutex_);
  if (problems_.update("creations", written ? "" : "not written") == ProblemTracker::Change::begun)
    log::warn(question_log, "{}: after a kill of the agent, values that hooks have set at creations stay",
              written.error().message());
}

void HookQuestions::log_verdict(const host::HookVerdict& verdict, const Asked& asked) const {
  const std::string title = asked.title();
  for (const host::HookVerdict::Silence& silence : verdict.silent)
    log::warn(question_log, "{} gave no answer for {}: {}", silence.plugin, title, silence.why);
  if (verdict.rejection)
    log::warn(question_log, "{} refuses {}: {}", verdict.rejection->plugin, title, verdict.rejection->why);
  for (const host::HookVerdict::Setting& setting : verdict.in_shadow)
    log::debug(question_log, "shadow: {} would set {} = {} for {}", setting.plugin, setting.field, setting.value,
               title);
}

// Returns the values that the runtime gets. The container of a CRI request has no cgroup yet, so the limits of the
// parent cgroups of its future cgroup are used.
nri::Resources HookQuestions::resources_of(const Asked& asked, const host::HookVerdict& given) const {
  std::string cgroup_dir = asked.container ? asked.container->cgroup_dir : std::string();
  if (cgroup_dir.empty()) cgroup_dir = hook::new_cgroup_of(asked.pod);
  return hook::resources_of(given, asked.requested.resources, is_v2_, other_parts(given.stage, cgroup_dir, given));
}

// Records the answer after the runtime has got it, because the governor's lock may be held for a write.
void HookQuestions::record(const Asked& asked, const host::HookVerdict& answered, const host::HookVerdict& given) {
  const hook::AnswerSubject subject{.asked_by = asked.asked_by,
                                    .pod = asked.pod,
                                    .container = asked.container ? &*asked.container : nullptr,
                                    .requested = asked.requested,
                                    .resources = resources_of(asked, given)};
  for (decision::Decision& one : hook::records_of(subject, answered, given)) {
    one.time = services_.clock.now();
    services_.governor.note(std::move(one));
  }
}

}  // namespace koord::agentd
