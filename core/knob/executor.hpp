// SPDX-License-Identifier: Apache-2.0
// Executor: writes the decided values to the kernel's knobs, and reverts knobs without a decision to their originals.
// Writes happen in the planner's order, so that a parent never allows less than its children; after a refusal by the
// kernel the rest is planned again, once; then all is read back. Originals gets a knob's original before its first
// write, and its next value before each write; originals of an earlier session are adopted, and reverted or decided
// again by apply().
//
// A knob that has its decided value is read again after a while only (Limits::refresh). If it has another value than
// was written, it is written again, each time later, and after three times it is left to its other writer for a long
// while. [one thread at a time]
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/knob/knob_files.hpp"
#include "core/knob/originals.hpp"
#include "core/knob/plan_sink.hpp"
#include "core/knob/planner.hpp"

namespace koord::knob {

// The meaning of a failed read or write of a knob.
decision::Outcome outcome_of(const Error& error);

// The result for a knob without any decision.
struct Undone {
  KnobKey key;
  const Knob* knob;
  Done done;
  std::string plugin = {};    // the plugin that proposed the last value
  bool again = false;         // it failed before, the same way
  std::string original = {};  // the value to be written
};

class Executor {
 public:
  struct Limits {
    Duration refresh = std::chrono::seconds(60);  // the longest time that a read value is trusted
    std::uint64_t writes_per_second = 1'000'000;  // of knobs, on average; reverts are not delayed
  };
  // If another process keeps writing a knob, it is written again after growing delays. At the kMostOverwrites-th time
  // it is left alone for the last of kQuiet.
  static constexpr unsigned kMostOverwrites = 3;
  static constexpr std::array<Duration, kMostOverwrites> kQuiet{std::chrono::seconds(5), std::chrono::seconds(15),
                                                                std::chrono::minutes(5)};

  // How long a value of this knob is trusted: from half of the period to all of it, so that knobs that were read at
  // once are not due at once.
  static Duration trust(const KnobKey& key, Duration refresh);

  // All outlive it.
  Executor(const KnobFiles& files, Originals& originals, const Clock& clock);

  void set_limits(const Limits& limits) { limits_ = limits; }
  // Cgroups of containers that have CPUs of their own, of which no quota may take time.
  void set_pinned(std::set<std::string> cgroup_dirs) { pinned_ = std::move(cgroup_dirs); }

  struct Report {
    std::vector<Done> done;  // in the order of the orders
    std::vector<Undone> undone;
  };
  // Sets the orders that hold from now on; one for each resource of a cgroup. Earlier ones stay, except for `dropped`.
  // An order of a cgroup's quota comes with that of its burst, if there is one. Orders of one-shots are done, once.
  Report apply(const std::vector<Order>& orders, const std::vector<KnobKey>& dropped);
  // The base that the pod's spec gives to a knob that had `before` as its original; nullopt: none. A revert writes it
  // instead of the original. To be set before the first order.
  using OwnerBase = std::function<std::optional<Value>(const KnobKey& key, const Knob& knob, const Value& before)>;
  void set_owner_base(OwnerBase owner_base) { owner_base_ = std::move(owner_base); }

  // The knob's value without what we have written: the original of one that is held, else the current value.
  Result<Value> value_before(const KnobKey& key, const Knob& knob) const;
  bool holds(const KnobKey& key) const { return held_.contains(key); }

  // Exactly these, and no others.
  Report apply(const std::vector<Order>& orders);

  // Returns whether a revert has failed, or is due because its time is over.
  bool has_reverts() const;

  // Adopts the knobs that an earlier process changed and did not revert. Each knob keeps its value for `patience`, and
  // with `and_ttl` for its intent's ttl besides. After that apply() reverts it, unless an order for it came meanwhile.
  // Returns the knobs that this version does not know, or that this node no longer has: their originals stay kept.
  std::vector<KnobKey> adopt(const std::vector<Original>& left, Duration patience, bool and_ttl);
  // Holds the knobs as if they had been written: apply() reverts them after `patience`, unless an order came. A knob
  // that has the value before is left out. One that was written already gets the value before as its original.
  Result<void> hold(std::span<const Adjusted> adjusted, Duration patience);
  // Those without an order yet.
  std::size_t adopted() const;
  // The next apply() reverts them.
  void end_patience();

  std::size_t held() const { return held_.size(); }

  // A held value, and the original.
  struct Holding {
    decision::Level level;
    KnobKey key;
    const Knob* knob;
    Value original;
    std::string plugin;   // the plugin that proposed the value
    std::string problem;  // why the last attempt to revert it failed; empty: none failed
  };
  std::vector<Holding> holdings() const;

 private:
  // A one-shot blocks all other decisions on knobs.
  static constexpr Duration kLongestOneShot = std::chrono::milliseconds(200);
  // Directories of cgroups that are kept open from the read to the write; the others are opened again, and compared.
  static constexpr std::size_t kMostOpenDirectories = 256;

  // Our written value, and the original.
  struct Held {
    decision::Level level;
    const Knob* knob;
    KnobFiles::Reading original;
    std::string plugin;                      // the plugin that proposed the value
    Texts written = {};                      // as the kernel showed it after the last write
    Value target = {};                       // of that write, as it was meant
    unsigned overwrites = 0;                 // by other processes, recently
    Time contested_at = {};                  // the last of them
    std::string problem = {};                // of the revert
    std::optional<Time> adopted_until = {};  // nullopt: it was ordered
  };

  // The last known result of an order.
  struct Seen {
    const Knob* knob = nullptr;
    Value asked = {};
    Time until = {};  // the result is trusted until then
    Done done = {};
  };

  using Steps = std::vector<Step>;

  // executor.cpp: the steps to do
  Done run_one_shot(const Order& order) const;
  Step order_step(const Order& order);
  Step revert_step(const KnobKey& key, Held& held);
  KnobFiles::Reading original_in(const KnobKey& key, const Knob& knob, KnobFiles::Reading original) const;
  bool heal(const KnobKey& key, Held& held);
  void keep_healed();
  void keep_directory(Step& step);
  bool recall(Step& step);
  void remember(Step& step);
  Time good_until(const Step& step) const;
  bool examine(Step& step);
  void decide_write(Step& step);
  void join_bursts(Steps& steps);
  void hold_up(Steps& steps);
  void make_groups(const std::vector<Order>& orders, std::map<std::string, Done>& failed);
  bool shares_out(const std::string& group) const;
  void drop(const KnobKey& key);
  Steps reverts(bool of_groups);
  void report_reverts(Steps& steps, Report& report);
  void forget(const KnobKey& key);
  void fail(Step& step, const Error& error);

  // executor_adopt.cpp
  Result<Texts> texts_before(const Knob& knob, std::string_view before) const;
  Result<void> correct_original(const KnobKey& key, Held& held, Texts texts);
  Result<std::optional<Original>> original_to_hold(const Adjusted& adjusted);

  // executor_contested.cpp: other writers
  bool is_of_others(const Held& held, const KnobFiles::Reading& now) const;
  bool is_contested(Step& step, Held& held);
  void take_original(Step& step, Held& held);

  // executor_write.cpp: doing it
  void run(Steps& steps);
  std::vector<PlannedWrite> plan(const std::vector<Step*>& steps);
  void write_planned(const std::vector<PlannedWrite>& writes);
  void keep_originals(const std::vector<Step*>& steps);
  void try_again(const std::vector<Step*>& steps);
  void roll_back(const std::vector<Step*>& steps);
  Result<Original> original_of(const Step& step) const;
  bool is_ours(const Held& held, const Original& kept, const KnobFiles::Reading& now) const;
  bool is_replaced(const Step& step, const KnobFiles::Reading& now) const;
  void write(Step& step, const Value& value);
  void verify(Step& step);
  Result<KnobFiles::Reading> read(const Step& step) const;

  const KnobFiles& files_;
  Originals& originals_;
  const Clock& clock_;
  Limits limits_;
  std::set<std::string> pinned_;
  std::unordered_map<KnobKey, Held, KnobKeyHash> held_;
  std::unordered_set<KnobKey, KnobKeyHash> ordered_;
  std::set<KnobKey> given_up_;  // held, and not ordered
  std::unordered_map<KnobKey, Seen, KnobKeyHash> seen_;
  OwnerBase owner_base_;
  std::vector<const Order*> healed_;  // in this round: their originals changed
  std::size_t open_directories_ = 0;  // in this round
  double writes_left_ = 0;
  std::optional<Time> writes_counted_at_;
};

}  // namespace koord::knob
