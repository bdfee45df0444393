// SPDX-License-Identifier: Apache-2.0
// Governor: the one place where proposals of strategies become values of knobs. Keeps each strategy's last plan, lets the
// arbiter decide among the plans that may write, has the executor write, and tells the strategies and the log what became
// of each wish. A strategy in shadow takes part in an arbitration of its own, over all plans: the log says what would have
// been, nothing is written. Until set_mode() or set_node_mode() says otherwise a strategy is in shadow. A wish for what is
// not to be turned (subjects.hpp, or the node's override "off") takes part in nothing. A round decides what has changed, and
// looks at what was not looked at for long: a plan that repeats the one before costs next to nothing.
//
// expire() is to be called about once a second, stop() once at the end. Reads and writes files in the calling thread; one
// at a time does, the others wait. [any thread]
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
#include "core/knob/arbiter.hpp"
#include "core/knob/decision_log.hpp"
#include "core/knob/executor.hpp"
#include "core/knob/knob_view.hpp"
#include "core/knob/modes.hpp"
#include "core/knob/plan_sink.hpp"
#include "core/knob/recent_readings.hpp"
#include "core/knob/subjects.hpp"

namespace koord::knob {

class Governor final : public PlanSink {
 public:
  // The clock and the originals outlive it.
  Governor(const Clock& clock, const cgroup::Layout& layout, const NodeRoots& roots, Originals& originals);

  void set_limits(const Executor::Limits& limits);

  void take(const Proposer& proposer, Plan plan, Tell tell) override;
  bool repeat(const Proposer& proposer) override;
  void withdraw(const Proposer& proposer) override;
  void set_mode(std::string_view plugin, std::optional<Mode> mode) override;
  // Of strategies that have none of their own.
  void set_node_mode(Mode mode);
  // What an operator says, of a plugin or of kNodeTarget, for so long; as Modes has it.
  Result<void> override_mode(std::string_view target, Mode mode, Duration how_long);
  Result<void> end_override(std::string_view target);
  Mode mode(std::string_view plugin) const;  // what holds
  Modes::View mode_view(std::string_view target) const;

  // Whose cgroups there are, and what of them is not to be turned.
  void set_subjects(SubjectsPtr subjects);
  // Is told of knobs that were given back because a strategy was switched off, ended, or may not turn them any more; must
  // only post. To be set before the first plan.
  void on_release(OnRelease on_release) { on_release_ = std::move(on_release); }

  // Ends the wishes that were not proposed again in time.
  void expire();

  // Goes on with what a process before this one has left; as Executor has it.
  std::vector<KnobKey> adopt(const std::vector<Original>& left, Duration patience, bool and_ttl);
  std::size_t adopted() const;
  // Gives back all that is held, now. No strategy does more than shadow from then on, until an operator says otherwise.
  std::vector<Undone> restore();
  // Ends all wishes, and none is heard from then on: each knob that was written has its original value, or is somebody else's.
  std::vector<Undone> stop();
  // No wish is heard from then on, and all knobs stay as they are.
  void leave();

  // Decisions on disk, too; before the first plan.
  void keep_decisions(DecisionArchive::Options options) { log_.keep_in(std::move(options), clock_); }
  const DecisionLog& log() const { return log_; }
  // What was decided of other things than knobs, for the same records.
  void note(Decision decision);
  // Has all of them on disk, as far as that takes them.
  void flush_decisions() { log_.flush(); }

  std::vector<Decision> decisions() const { return log_.decisions(); }
  std::map<Outcome, std::uint64_t> counts() const { return log_.counts(); }
  std::size_t held() const;    // knobs that have a value of ours
  std::size_t wishes() const;  // that stand
  // How many wishes stand, by what became of them.
  std::map<Outcome, std::size_t> standing() const;
  // All knobs that have a value of ours, or that somebody wishes. Reads them.
  std::vector<KnobView> knobs() const;

 private:
  struct Strategy;
  struct Standing;
  // All that is wished for one resource of one cgroup. It is decided when it is called: a wish for it comes, changes or goes,
  // who may write changes, or it is due.
  struct Case {
    std::vector<Standing*> wishes;
    Time due = Time::max();  // to be looked at again
    bool is_called = false;
  };
  using Cases = std::map<KnobKey, Case>;
  using Called = std::vector<Cases::value_type*>;

  // What was last recorded of a wish.
  struct Told {
    Outcome outcome = Outcome::off;
    std::string wanted, winner, problem;
    std::int32_t priority = 0;
    Time time = {};
  };
  struct Standing : Wish {
    Strategy* strategy = nullptr;
    Cases::value_type* its_case = nullptr;
    std::optional<Told> last;
    Outcome outcome = Outcome::off;   // what became of it
    std::string final_value, winner;  // as IntentResult has them
    bool hands_off = false;  // because of its cgroup
    bool acted = false;  // of an act, which is done once for each plan
  };
  struct Strategy {
    std::vector<std::unique_ptr<Standing>> wishes;
    std::vector<Standing*> acts;                // those of them that are done again whenever they are proposed
    Duration shortest_ttl = Duration::max();    // of them
    Time renewed = {};                          // all of them were proposed last
    bool has_ended = false;                     // some of them have
    Tell tell;
    bool is_new_plan = false;      // of which all is to be told
    std::vector<Standing*> news;   // else of these
  };
  using Strategies = std::map<Proposer, Strategy>;

  // [locked], all
  Mode mode_of(const Proposer& proposer) const { return modes_.of(proposer.plugin); }
  bool is_hands_off(const Standing& standing) const;
  WishView view_of(const Proposer& proposer, const Standing& standing) const;
  void look_for_hands_off();
  void expire_overrides(Time now);
  Result<void> change_override(std::string_view target, std::optional<Modes::Override> what, const std::string& why);
  void record_switch(std::string_view target, Mode before, const std::string& why);

  // governor.cpp: which cases there are
  std::unique_ptr<Standing> stand(const Proposer& proposer, Intent intent);
  static bool repeats(const Standing& standing, const Intent& intent);
  void renew(Strategy& strategy);
  static void sum_up(Strategy& strategy);
  void enter(Standing& standing);
  void leave_case(Standing& standing);
  void call(Cases::value_type& entry);
  void call_all();
  void call_due();
  void end_wishes(const Proposer& proposer, Strategy& strategy);

  // governor_settle.cpp: what becomes of them. `why`: of knobs that are given back; empty: because nobody wishes them any more.
  std::vector<Undone> settle(const std::string& why = {});
  std::vector<Wish*> wishes_of(const Case& one, Mode least) const;
  std::vector<Undone> settle_enforced(const Called& called, const std::string& why);
  void settle_shadow(const Called& called);
  void settle_idle(const Called& called);
  void close(const Called& called);
  void conclude(Wish& wish, const Wish* winner, const Done& done);
  std::vector<Undone> record_all(std::vector<Undone> undone, const std::string& why);
  void record_undone(const Undone& undone, const std::string& why, std::vector<Release>& releases);
  static Decision decision_of(const Wish& wish, const Done& done, Time time);
  void record(Decision decision);
  void tell(Strategy& strategy);

  const Clock& clock_;
  const KnobFiles files_;
  DecisionLog log_;

  mutable std::mutex mutex_;  // of what follows
  Executor executor_;
  RecentReadings readings_;  // of those in shadow
  Duration refresh_ = Executor::Limits().refresh;
  Strategies strategies_;
  Cases cases_;
  Called called_;
  std::set<std::pair<Time, Cases::value_type*>> due_;
  Modes modes_;
  SubjectsPtr subjects_ = std::make_shared<const Subjects>();
  OnRelease on_release_;
  bool has_ended_ = false;
};

}  // namespace koord::knob
