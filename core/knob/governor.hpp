// SPDX-License-Identifier: Apache-2.0
// Governor: the one place where intents of strategies become values of knobs. Keeps each strategy's last plan, composes
// one value per knob from the intents that may write (composition.hpp), has the executor write it, and reports the
// result of each intent to its strategy and to the log. A strategy in shadow takes part in a composition of its own,
// over all plans: the log shows the result, nothing is written. Strategies are in shadow until set_mode() or
// set_node_mode(). Intents for knobs with hands off (subjects.hpp, or the node's override "off") take part in nothing.
// A round decides what is dirty, and reads again what was not read for long: a plan that repeats the one before costs
// next to nothing.
//
// Three values follow from other cgroups, without an intent for the cgroup itself (governor_compose.cpp):
// - On cgroup v1 the kernel refuses a quota, or a CPU set, below that of a cgroup inside. A cap of cpu.max or
//   cpuset.cpus therefore caps the cgroups inside.
// - A pod has at least what its containers add up to, unless a cap binds.
// - The base of a knob that a pod's spec decides is that of the spec.
//
// expire() is to be called about once a second, stop() once at the end. Reads and writes files in the calling thread;
// one at a time does, the others wait. [any thread]
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/decision/decision_log.hpp"
#include "core/decision/modes.hpp"
#include "core/knob/composition.hpp"
#include "core/knob/executor.hpp"
#include "core/knob/knob_view.hpp"
#include "core/knob/plan_sink.hpp"
#include "core/knob/recent_readings.hpp"
#include "core/knob/subjects.hpp"

namespace koord::knob {

class Governor final : public PlanSink {
 public:
  // The clock and the originals outlive it.
  Governor(const Clock& clock, const cgroup::Layout& layout, const NodeRoots& roots, Originals& originals);

  void set_limits(const Executor::Limits& limits);

  void take(const decision::Proposer& proposer, Plan plan, ReportResults report_results) override;
  bool repeat(const decision::Proposer& proposer) override;
  void withdraw(const decision::Proposer& proposer) override;
  void set_mode(std::string_view plugin, std::optional<Mode> mode) override;
  // The mode of strategies without one of their own.
  void set_node_mode(Mode mode);
  // Sets the mode of a plugin or of kNodeTarget for `how_long`; as Modes has it. `by` names the operator in the
  // records.
  Result<void> override_mode(std::string_view target, Mode mode, Duration how_long,
                             const std::string& by = "an operator");
  Result<void> end_override(std::string_view target, const std::string& by = "an operator");
  Mode mode(std::string_view plugin) const;  // the effective mode
  decision::Modes::View mode_view(std::string_view target) const;

  // The owners of cgroups, and their hands-off knobs.
  void set_subjects(SubjectsPtr subjects);
  // Called for knobs that were reverted because a strategy was switched off, ended, or may not write them any more;
  // must only post. To be set before the first plan.
  void on_release(OnRelease on_release) { on_release_ = std::move(on_release); }
  // Says why a plugin proposes no more, for the records of reverts; empty: unknown. Called with the governor's lock. To
  // be set before the first plan.
  using WhyEnded = std::function<std::string(std::string_view plugin)>;
  void explain_reverts(WhyEnded why_ended) { why_ended_ = std::move(why_ended); }

  // Called when a revert fails for the first time, and again when it fails for another reason. Called with the
  // governor's lock: it must not call the governor. To be set before the first plan.
  using OnFailedRevert = std::function<void(const Undone&)>;
  void on_failed_revert(OnFailedRevert on_failed_revert) { on_failed_revert_ = std::move(on_failed_revert); }

  // The base of a knob that no intent gives: from the pod's spec, else the original, else the current value. Behind the
  // name of one with items stands the item: "io.max 8:16".
  Result<std::string> base(std::string_view knob, std::string_view cgroup_dir) const;

  // The parts of the value of a knob which a container runtime is about to set: intents in enforce, except for those of
  // the plugins that the runtime has asked, and the cap of the cgroups around.
  OtherParts other_parts(const Knob& knob, const std::string& cgroup_dir, const std::set<std::string>& asked) const;

  // Ends the intents that were not proposed again in time.
  void expire();

  // Goes on with what a process before this one has left; as Executor has it.
  std::vector<KnobKey> adopt(const std::vector<Original>& left, Duration patience, bool and_ttl);
  std::size_t adopted() const;
  // Goes on with what a container runtime has set for hooks in enforce; as Executor has it.
  Result<void> hold(std::span<const Adjusted> adjusted, Duration patience);
  // Reverts all knobs, now. From then on no strategy does more than shadow, until an operator allows it.
  std::vector<Undone> restore(const std::string& by = "an operator");
  // Ends all intents, and takes none from then on: each knob that was written is reverted, or left to its other writer.
  std::vector<Undone> stop();
  // Takes no intent from then on; all knobs stay as they are.
  void leave();

  // Decisions on disk, too; before the first plan.
  void keep_decisions(decision::DecisionArchive::Options options) { log_.keep_in(std::move(options), clock_); }
  const decision::DecisionLog& log() const { return log_; }
  // Decisions about other things than knobs, for the same records.
  void note(decision::Decision decision);
  // Has all of them on disk, as far as that takes them.
  void flush_decisions() { log_.flush(); }

  std::vector<decision::Decision> decisions() const { return log_.decisions(); }
  std::map<decision::Outcome, std::uint64_t> counts() const { return log_.counts(); }
  std::size_t held() const;  // knobs that have a value of ours
  std::size_t active_intents() const;
  // The same, counted by result.
  std::map<decision::Outcome, std::size_t> active_intents_by_result() const;
  // All knobs that have a value of ours, or an intent. Reads them.
  std::vector<KnobView> knobs() const;

 private:
  struct Strategy;
  struct ActiveIntent;

  // The last record of an intent, or of a value that follows from other cgroups.
  struct Recorded {
    decision::Outcome outcome = decision::Outcome::off;
    std::string wanted, winner, problem, equation;
    std::int32_t priority = 0;
    Time time = {};
  };

  // A cap in shadow, with what it would do to the cgroups inside, as it was recorded.
  struct ShadowCap {
    std::string value;
    Time until = {};                            // to be looked at again
    std::map<std::string, std::string> inside;  // the value that a cgroup would have
  };

  // All intents for one resource of one cgroup. It is composed again when it is dirty: an intent for it comes, changes
  // or ends, the modes, its base or the cgroups around change, or it is due.
  struct KnobState {
    std::vector<ActiveIntent*> intents;
    std::optional<Composition> composed;                 // as it is enforced
    std::optional<Recorded> recorded;                    // of one without an intent
    std::string obstacle;                                // why a cap cannot be; empty: it can
    decision::Outcome outcome = decision::Outcome::off;  // of what was composed
    Time due = Time::max();                              // to be read again
    bool is_dirty = false;
    ShadowCap shadow_cap;
  };
  using States = std::map<KnobKey, KnobState>;
  using Entry = States::value_type;
  using Dirty = std::vector<Entry*>;

  struct ActiveIntent {
    Intent proposed;
    Strategy* strategy = nullptr;
    Entry* entry = nullptr;
    std::optional<Recorded> last;
    decision::Outcome outcome = decision::Outcome::off;
    std::string final_value, winner;  // as IntentResult has them
    bool hands_off = false;           // because of its cgroup
    bool is_done = false;             // of a one-shot, which is done once for each plan
  };
  using Intents = std::vector<ActiveIntent*>;

  struct Strategy {
    std::shared_ptr<const decision::Proposer> proposer;
    std::vector<std::unique_ptr<ActiveIntent>> intents;
    Intents one_shots;                        // one-shots, which are done again whenever they are proposed
    Duration shortest_ttl = Duration::max();  // of them
    Time renewed = {};                        // all of them were proposed last
    bool has_ended = false;                   // some of them have
    ReportResults report_results;
    bool is_new_plan = false;  // all results are to be reported
    Intents changed;           // else those of these
  };
  using Strategies = std::map<decision::Proposer, Strategy>;

  // The orders of a round, with their owners.
  struct Round {
    struct Planned {
      Entry* entry;
      Intents intents;
    };
    std::vector<Planned> planned;  // in the order of the orders
    std::vector<Order> orders;
    std::vector<KnobKey> dropped;
  };

  // [locked], all
  Mode mode_of(const decision::Proposer& proposer) const { return modes_.of(proposer.plugin); }
  bool is_hands_off(const ActiveIntent& intent) const;
  IntentView view_of(const ActiveIntent& intent) const;
  void mark_changed_subjects(const Subjects& before);
  void expire_overrides(Time now);
  Result<void> change_override(std::string_view target, std::optional<decision::Modes::Override> what,
                               const std::string& why);
  void record_switch(std::string_view target, Mode before, const std::string& why);

  // governor.cpp: which intents there are
  std::unique_ptr<ActiveIntent> activate(Strategy& strategy, Intent intent) const;
  void renew(Strategy& strategy);
  static void sum_up(Strategy& strategy);
  void enter(ActiveIntent& intent);
  void leave_state(ActiveIntent& intent);
  void mark_dirty(Entry& entry);
  void mark_all_dirty();
  void mark_due_dirty();
  void end_intents(const decision::Proposer& proposer, Strategy& strategy);

  // governor_compose.cpp: which value each knob is to have
  Result<Base> base_of(const KnobKey& key, const Knob& knob) const;
  std::optional<Value> owner_base(const KnobKey& key, const Knob& knob, const Value& before) const;
  Intents intents_of(const KnobState& state, Mode least) const;
  Result<Composition> compose_intents(const KnobKey& key, const Intents& intents) const;
  void bound_burst(const std::string& cgroup_dir, Composition& burst) const;
  std::optional<Composition> follow_hierarchy(const KnobKey& key) const;
  std::optional<Bound> cap_around(const KnobKey& key) const;
  std::optional<Bound> floor_inside(const KnobKey& key) const;
  void spread_caps();
  void spread_cap(Entry& entry);
  static std::optional<Bound> strictest_cap(const KnobKey& key, const Intents& intents);
  std::string obstacle_of(const KnobKey& key, const Bound& cap) const;
  // The value of a cgroup below one with a cap.
  struct InnerValue {
    KnobKey key;
    Value value = {};                            // as long as it is limited
    bool is_limited = false, is_larger = false;  // than the cap
  };
  std::vector<InnerValue> values_inside(const KnobKey& key, const Bound& cap) const;
  void find_larger(const KnobKey& key, const Bound& cap);
  void mark_pods_dirty();
  decision::Level level_of(const KnobKey& key) const;

  // governor_reconcile.cpp: doing it. `why`: of knobs that are reverted; empty: because no intent is left.
  std::vector<Undone> reconcile(const std::string& why = {});
  Dirty take_dirty();
  std::vector<Undone> reconcile_enforced(const Dirty& dirty, const std::string& why);
  void plan(Entry& entry, Round& round);
  void plan_intents(Entry& entry, Intents intents, Round& round);
  void finish(const Round::Planned& planned, const Done& done);
  void reconcile_shadow(const Dirty& dirty);
  void reconcile_shadow(Entry& entry, const Intents& intents);
  // governor_shadow.cpp: the effects that a cap in shadow would have on the cgroups inside.
  void reconcile_shadow_cap(Entry& entry, const Intents& intents);
  void check_inside(const KnobKey& key, const Bound& cap, std::map<std::string, std::string>& found, ShadowCap& before);
  static std::string reason_of_cap(const Bound& cap);
  void record_shadow_cap(const KnobKey& key, const Bound& cap, const std::string& now, const Composition& made);
  void reconcile_idle(const Dirty& dirty);
  void close(const Dirty& dirty);
  void conclude(ActiveIntent& intent, const Verdict& verdict, const std::string& equation, const Done& done);
  void conclude_all(const Intents& intents, const Done& done);
  void record_followed(Entry& entry, const Done& done);
  std::vector<Undone> record_all(std::vector<Undone> undone, const std::string& why);
  void record_undone(const Undone& undone, const std::string& why, std::vector<Release>& releases);
  static decision::Decision decision_of(const Intent& intent, const Done& done, Time time);
  void record(decision::Decision decision);
  void report(Strategy& strategy);

  const Clock& clock_;
  const KnobFiles files_;
  const std::set<std::string, std::less<>>
      nested_;  // resources that a cgroup has at most as much of as those around it, as on v1
  decision::DecisionLog log_;

  mutable std::mutex mutex_;  // of what follows
  Executor executor_;
  RecentReadings readings_;  // of those in shadow
  Duration refresh_ = Executor::Limits().refresh;
  Strategies strategies_;
  States states_;
  Dirty dirty_;
  std::set<std::pair<Time, Entry*>> due_;
  std::map<KnobKey, Bound> caps_;  // of nested resources
  decision::Modes modes_;
  SubjectsPtr subjects_ = std::make_shared<const Subjects>();
  OnRelease on_release_;
  OnFailedRevert on_failed_revert_;
  WhyEnded why_ended_;
  bool has_ended_ = false;
};

}  // namespace koord::knob
