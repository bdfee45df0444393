// SPDX-License-Identifier: Apache-2.0
// KeptAnswers: asks each runtime hook about every pod and container that exists, and proposes the answers' fields that
// are knobs as one plan of that hook. So a hook works without a runtime that asks it, and a container created without
// the hook gets the same values.
//
// A hook is asked again about a pod that changed, and about all pods when the NodeSLO, the node, the topology, or the
// hook itself (a start, another configuration) changed. An answer is kept when its hook crashes, is reloaded or parked;
// it ends with its pod or container, when the hook's gate is off, or with the next answer. A hook that fails keeps its
// old answers and is asked again after kRetry; one that is late is not asked about further pods in the same update.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/decision/proposer.hpp"
#include "core/host/hook_call.hpp"
#include "core/knob/plan_sink.hpp"
#include "core/state/snapshot.hpp"

namespace koord::hook {

// A running hook.
struct RunningHook {
  std::string plugin, name;  // of the plugin and of its class
  std::uint32_t stages = 0;
  std::uint64_t generation = 0;  // another one: its answers may be others
};

class KeptAnswers {
 public:
  static constexpr Duration kRetry = std::chrono::seconds(10);
  // For one hook in one update; the next one goes on.
  static constexpr Duration kMostTime = std::chrono::seconds(2);
  static constexpr Duration kTtl = std::chrono::minutes(1);

  struct Parts {
    std::function<std::vector<RunningHook>()> running;
    // Whether the hook no longer exists: its plugin's gate is off, or the plugin has no such class now.
    std::function<bool(const decision::Proposer&)> has_ended;
    // Returns within kMostTime.
    std::function<host::HookReply(const RunningHook&, std::shared_ptr<const host::HookSubject>)> ask;
    // Gets the fields of each container's answer that only a creation sets, in each update; may be null.
    std::function<void(const std::string& plugin, const state::Pod& pod, const state::Container& container,
                       const std::vector<std::string>& fields)>
        creation_fields;
    knob::PlanSink& plans;
    const Clock& clock;  // both outlive it
  };
  explicit KeptAnswers(Parts parts) : parts_(std::move(parts)) {}

  // Asks about what is new, and proposes or renews the plans. [one thread at a time]
  void update(const state::SnapshotPtr& snapshot);
  // The update that runs asks no further question, and later ones neither. [any thread]
  void stop() { is_stopped_ = true; }

 private:
  // The inputs of an answer: versions of these parts of the state, and of the pod and the hook.
  struct Inputs {
    std::uint64_t node = 0, node_slo = 0, topology = 0, pod = 0, generation = 0;

    bool operator==(const Inputs&) const = default;
  };
  struct Answer {
    std::optional<Inputs> inputs;  // of the last good one; nullopt: no good one yet
    host::HookSettings settings;
    std::vector<std::string> creation_fields;
    Time again = {};  // after a failure
  };
  struct Hook {
    std::map<std::uint64_t, Answer> answers;  // by the handle of the pod or container
    bool is_new_plan = true;
    std::size_t failures = 0;  // since the last answer
  };
  struct Subject {
    std::uint64_t handle = 0;
    const state::Pod* pod = nullptr;
    const state::Container* container = nullptr;  // null: the pod itself
  };
  using Subjects = std::vector<Subject>;

  static Subjects subjects_of(const state::Snapshot& snapshot);
  void count_changes(const state::SnapshotPtr& snapshot);
  Inputs inputs_of(const RunningHook& running, const Subject& subject) const;
  void end_hooks();
  void note_failure(const RunningHook& running, const Subject& subject, Hook& hook, const std::string& why) const;
  void ask_all(const RunningHook& running, Hook& hook, const Subjects& subjects);
  host::HookReply::Kind ask(const RunningHook& running, const Subject& subject, Hook& hook, Answer& answer);
  void pass_creation_fields(const std::string& plugin, const Hook& hook, const Subjects& subjects) const;
  bool has_own_cpus(const Subject& subject) const;
  void propose(const decision::Proposer& proposer, Hook& hook, const Subjects& subjects);

  const Parts parts_;
  std::atomic<bool> is_stopped_ = false;
  state::SnapshotPtr seen_ = std::make_shared<const state::Snapshot>();
  std::map<std::uint64_t, std::uint64_t> pod_versions_;  // by handle
  std::map<decision::Proposer, Hook> hooks_;
};

}  // namespace koord::hook
