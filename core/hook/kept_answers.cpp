// SPDX-License-Identifier: Apache-2.0
#include "core/hook/kept_answers.hpp"

#include <iterator>
#include <set>
#include <utility>

#include "core/hook/field_intents.hpp"
#include "core/log/log.hpp"
#include "core/state/cpu_owners.hpp"

namespace koord::hook {
namespace {

constexpr log::Category hook_log{"hooks"};

// The stages of a creation, so that a hook later gets the same question as at the creation.
constexpr std::uint32_t kPodStage = KOORD_STAGE_PRE_RUN_POD_SANDBOX, kContainerStage = KOORD_STAGE_PRE_CREATE_CONTAINER;

// Returns whether hooks are asked about the container. They are not asked about ephemeral containers, the sandbox (it
// is made with the pod), and ended containers (their cgroup is removed).
bool is_asked_about(const state::Container& container) {
  if (container.state == state::ContainerState::terminated) return false;
  return container.kind == state::ContainerKind::regular || container.kind == state::ContainerKind::init ||
         container.kind == state::ContainerKind::sidecar;
}

std::string title_of(const state::Pod& pod, const state::Container* container) {
  const std::string name = state::full_name(pod);
  return container == nullptr ? "pod " + name : "container " + container->name + " of " + name;
}

}  // namespace

void KeptAnswers::update(const state::SnapshotPtr& snapshot) {
  // The kubelet's configuration may become known after its pods.
  const bool are_new_pods = snapshot->versions.pods != seen_->versions.pods ||
                            state::has_static_cpus(*snapshot) != state::has_static_cpus(*seen_);
  count_changes(snapshot);
  end_hooks();
  const Subjects subjects = subjects_of(*snapshot);
  std::set<std::uint64_t> alive;
  for (const Subject& subject : subjects) alive.insert(subject.handle);
  // Proposes the kept answers first, because hooks may take long, and the plans of other hooks must not expire
  // meanwhile.
  for (auto& [proposer, hook] : hooks_) {
    hook.is_new_plan |=
        std::erase_if(hook.answers, [&](const auto& answer) { return !alive.contains(answer.first); }) > 0;
    hook.is_new_plan |= are_new_pods;  // cgroups may have become known
    propose(proposer, hook, subjects);
  }
  for (const RunningHook& running : parts_.running()) {
    Hook& hook = hooks_[{running.plugin, running.name}];
    ask_all(running, hook, subjects);
    if (hook.is_new_plan) propose({running.plugin, running.name}, hook, subjects);
  }
  for (const auto& [proposer, hook] : hooks_) pass_creation_fields(proposer.plugin, hook, subjects);
}

void KeptAnswers::pass_creation_fields(const std::string& plugin, const Hook& hook, const Subjects& subjects) const {
  if (!parts_.creation_fields) return;
  for (const Subject& subject : subjects) {
    const auto answer = hook.answers.find(subject.handle);
    const bool has_fields = answer != hook.answers.end() && !answer->second.creation_fields.empty();
    if (has_fields && subject.container != nullptr)
      parts_.creation_fields(plugin, *subject.pod, *subject.container, answer->second.creation_fields);
  }
}

KeptAnswers::Subjects KeptAnswers::subjects_of(const state::Snapshot& snapshot) {
  Subjects subjects;
  for (const state::Pod& pod : snapshot.pods) {
    if (has_ended(pod)) continue;
    subjects.push_back({pod.handle, &pod, nullptr});
    for (const state::Container& container : pod.containers)
      if (is_asked_about(container)) subjects.push_back({container.handle, &pod, &container});
  }
  return subjects;
}

// Gives each pod that differs from the previous snapshot a new version, because pods have no version of their own.
void KeptAnswers::count_changes(const state::SnapshotPtr& snapshot) {
  if (snapshot->versions.pods != seen_->versions.pods) {
    std::map<std::uint64_t, const state::Pod*> before;
    for (const state::Pod& pod : seen_->pods) before.emplace(pod.handle, &pod);
    std::map<std::uint64_t, std::uint64_t> versions;
    for (const state::Pod& pod : snapshot->pods) {
      const auto old = before.find(pod.handle);
      const bool is_same = old != before.end() && *old->second == pod;
      versions[pod.handle] = is_same ? pod_versions_[pod.handle] : snapshot->versions.pods;
    }
    pod_versions_ = std::move(versions);
  }
  seen_ = snapshot;
}

KeptAnswers::Inputs KeptAnswers::inputs_of(const RunningHook& running, const Subject& subject) const {
  const state::Versions& versions = seen_->versions;
  return {versions.node, versions.node_slo, versions.topology, pod_versions_.at(subject.pod->handle),
          running.generation};
}

void KeptAnswers::end_hooks() {
  for (auto hook = hooks_.begin(); hook != hooks_.end();) {
    if (!parts_.has_ended(hook->first)) {
      ++hook;
      continue;
    }
    parts_.plans.withdraw(hook->first);
    hook = hooks_.erase(hook);
  }
}

void KeptAnswers::ask_all(const RunningHook& running, Hook& hook, const Subjects& subjects) {
  const Time now = parts_.clock.now();
  for (const Subject& subject : subjects) {
    if ((running.stages & (subject.container == nullptr ? kPodStage : kContainerStage)) == 0) {
      hook.is_new_plan |= hook.answers.erase(subject.handle) > 0;  // the hook had this stage before
      continue;
    }
    Answer& answer = hook.answers[subject.handle];
    if (answer.inputs == inputs_of(running, subject) || answer.again > now) continue;
    if (is_stopped_ || parts_.clock.now() >= now + kMostTime) return;
    if (ask(running, subject, hook, answer) == host::HookReply::Kind::timed_out) return;
  }
}

host::HookReply::Kind KeptAnswers::ask(const RunningHook& running, const Subject& subject, Hook& hook, Answer& answer) {
  host::HookRequest request{.stage = subject.container == nullptr ? kPodStage : kContainerStage,
                            .pod = *subject.pod,
                            .node_slo = seen_->node_slo};
  if (subject.container != nullptr) request.container = *subject.container;
  host::HookReply reply = parts_.ask(running, std::make_shared<const host::HookSubject>(std::move(request)));
  if (reply.kind != host::HookReply::Kind::answered) {
    answer.again = parts_.clock.now() + kRetry;
    note_failure(running, subject, hook, reply.text);
    return reply.kind;
  }
  if (hook.failures > 0)
    log::info(hook_log, "{} answers again, after {} failures", running.plugin, std::exchange(hook.failures, 0));
  if (reply.settings.rejection) {
    log::debug(hook_log, "{} rejects {}, which exists already: {}", running.plugin,
               title_of(*subject.pod, subject.container), *reply.settings.rejection);
    reply.settings = {};
  }
  std::vector<std::string> fields = creation_fields(reply.settings);
  keep_knobs(reply.settings);
  hook.is_new_plan = true;
  answer = {inputs_of(running, subject), std::move(reply.settings), std::move(fields), {}};
  return reply.kind;
}

// Logs the first failure in a row.
void KeptAnswers::note_failure(const RunningHook& running, const Subject& subject, Hook& hook,
                               const std::string& why) const {
  if (hook.failures++ > 0) return;
  log::warn(hook_log, "{} gave no answer for {}: {}; keeping its last answers and asking again every {} s",
            running.plugin, title_of(*subject.pod, subject.container), why, kRetry / std::chrono::seconds(1));
}

bool KeptAnswers::has_own_cpus(const Subject& subject) const {
  return subject.container == nullptr ? state::has_own_cpus(*seen_, *subject.pod)
                                      : state::has_own_cpus(*seen_, *subject.pod, *subject.container);
}

void KeptAnswers::propose(const decision::Proposer& proposer, Hook& hook, const Subjects& subjects) {
  if (!std::exchange(hook.is_new_plan, false) && parts_.plans.repeat(proposer)) return;
  knob::Plan plan;
  for (const Subject& subject : subjects) {
    const auto answer = hook.answers.find(subject.handle);
    if (answer == hook.answers.end()) continue;
    const std::string& cgroup_dir =
        subject.container == nullptr ? subject.pod->cgroup_dir : subject.container->cgroup_dir;
    if (cgroup_dir.empty()) continue;  // not created yet
    knob::Plan intents =
        intents_of(answer->second.settings,
                   {.level = subject.container == nullptr ? decision::Level::pod : decision::Level::container,
                    .cgroup_dir = cgroup_dir,
                    .reason = "the answer for " + title_of(*subject.pod, subject.container),
                    .priority = kHookPriority,
                    .ttl = kTtl,
                    .has_own_cpus = has_own_cpus(subject)});
    std::move(intents.begin(), intents.end(), std::back_inserter(plan));
  }
  parts_.plans.take(proposer, std::move(plan), [](std::vector<knob::IntentResult>) {});
}

}  // namespace koord::hook
