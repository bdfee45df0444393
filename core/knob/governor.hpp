// SPDX-License-Identifier: Apache-2.0
// Governor: the one place where proposals of strategies become values of knobs. Keeps each strategy's last plan, lets the
// arbiter decide among the plans that may write, has the executor write, and tells the strategies and the log what became
// of each wish. A strategy in shadow takes part in an arbitration of its own, over all plans: the log says what would have
// been, nothing is written. Until set_mode() or set_node_mode() says otherwise a strategy is in shadow.
//
// expire() is to be called about once a second, stop() once at the end. Reads and writes files in the calling thread; one
// at a time does, the others wait. [any thread]
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/knob/arbiter.hpp"
#include "core/knob/decision_log.hpp"
#include "core/knob/executor.hpp"
#include "core/knob/plan_sink.hpp"

namespace koord::knob {

class Governor final : public PlanSink {
 public:
  Governor(const Clock& clock, const cgroup::Layout& layout);  // the clock outlives it

  void take(const Proposer& proposer, Plan plan, Tell tell) override;
  void withdraw(const Proposer& proposer) override;
  void set_mode(std::string_view plugin, std::optional<Mode> mode) override;
  // Of strategies that have none of their own.
  void set_node_mode(Mode mode);

  // Ends the wishes that were not proposed again in time.
  void expire();
  // Ends all wishes: each knob that was written has its original value, or is somebody else's.
  void stop();

  std::vector<Decision> decisions() const { return log_.decisions(); }
  std::map<Outcome, std::uint64_t> counts() const { return log_.counts(); }
  std::size_t held() const;    // knobs that have a value of ours
  std::size_t wishes() const;  // that stand

 private:
  struct Standing : Wish {
    std::optional<Decision> last;  // what was last recorded of it
    IntentResult result = {};
    bool has_news = true;
  };
  struct Strategy {
    std::vector<Standing> wishes;
    Tell tell;
  };
  using Strategies = std::map<Proposer, Strategy>;

  // [locked]
  Mode mode_of(const Proposer& proposer) const;
  std::vector<Wish*> wishes_of(bool also_shadow);
  void settle();
  void settle_enforced();
  void settle_shadow();
  void conclude(Wish& wish, const Wish* winner, const Done& done);
  void record_undone(const Undone& undone);
  void tell(Strategy& strategy);

  const Clock& clock_;
  const KnobFiles files_;
  DecisionLog log_;

  mutable std::mutex mutex_;  // of what follows
  Executor executor_;
  Strategies strategies_;
  Mode node_mode_ = Mode::shadow;
  std::map<std::string, Mode, std::less<>> modes_;
};

}  // namespace koord::knob
