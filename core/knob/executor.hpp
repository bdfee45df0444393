// SPDX-License-Identifier: Apache-2.0
// Executor: makes the kernel's knobs have the values that were decided, and gives them back the ones they had when
// nobody decides any more. What had to be written is written from the outside in as far as it widens, then from the inside
// out as far as it narrows, so that a parent never allows less than its children; then it is read back. What a knob was is
// told to Originals before its first write, and what it will be before each; what they have from an earlier life is adopted, and
// given back or decided anew by apply(). [one thread at a time]
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/knob/knob_files.hpp"
#include "core/knob/originals.hpp"
#include "core/knob/plan_sink.hpp"

namespace koord::knob {

// A knob's value, decided.
struct Order {
  Level level;
  std::string cgroup_dir;
  const Knob* knob;
  Value value;
  std::string plugin = {};  // whose wish it is, and how long that holds
  Duration ttl{0};
};

// What it means when a knob cannot be read or written.
Outcome outcome_of(const Error& error);

struct Done {
  Outcome outcome = Outcome::failed;
  std::string before, after;  // empty: could not be read
  std::string problem;        // empty: none
};

// What became of a knob that nobody decides any more.
struct Undone {
  KnobKey key;
  const Knob* knob;
  Done done;
  bool again = false;  // it failed before, the same way
};

class Executor {
 public:
  // All outlive it.
  Executor(const KnobFiles& files, Originals& originals, const Clock& clock);

  struct Report {
    std::vector<Done> done;  // in the order of the orders
    std::vector<Undone> undone;
  };
  // From now on exactly these hold; one for each resource of a cgroup. Orders of acts are done, once.
  Report apply(const std::vector<Order>& orders);

  // Goes on with what a process before this one has left. Each knob stays for `patience`, and its wish's ttl besides where
  // `and_ttl` says so; then, unless it was ordered meanwhile, apply() gives it back. Returns those that this version does not
  // know, or that have no place on this node any more: they stay kept.
  std::vector<KnobKey> adopt(const std::vector<Original>& left, Duration patience, bool and_ttl);
  // Those that nobody has ordered yet.
  std::size_t adopted() const;
  // The next apply() gives them back.
  void end_patience();

  std::size_t held() const { return held_.size(); }

  // What is held, and the value before.
  struct Holding {
    Level level;
    KnobKey key;
    const Knob* knob;
    Value original;
  };
  std::vector<Holding> holdings() const;

 private:
  // So often a knob is found with another value than was written; then it is left alone until another one is decided.
  static constexpr unsigned kMostContests = 3;

  // An act blocks whoever else decides on knobs.
  static constexpr Duration kLongestAct = std::chrono::milliseconds(200);

  // What we have written, and what was there before.
  struct Held {
    Level level;
    const Knob* knob;
    KnobFiles::Reading original;
    Texts written = {};      // as the kernel said it after the last write
    Value target = {};       // of that write
    unsigned contests = 0;   // in a row for this target
    std::string problem = {};  // of giving it back
    std::optional<Time> adopted_until = {};  // nullopt: it was ordered
  };

  // One knob on its way to a value.
  struct Step {
    Level level;
    KnobKey key;
    const Knob* knob;
    Value target;  // as the kernel will say it
    Value asked;   // as it is said to the kernel
    const KnobFiles::Reading* original;  // of a knob that is given back
    KnobFiles::Reading now;
    bool writes = false;
    Done done;
    const Order* order = nullptr;  // nullptr: it is given back
  };

  Done act(const Order& order) const;
  Step order_step(const Order& order);
  Step revert_step(const KnobKey& key, Held& held);
  bool examine(Step& step);
  void decide_write(Step& step);
  void keep_originals(std::vector<Step>& steps);
  Result<Original> original_of(const Step& step) const;
  bool is_ours(const Held& held, const Original& kept, const KnobFiles::Reading& now) const;
  void forget(const KnobKey& key);
  void fail(Step& step, const Error& error);
  void write(Step& step, const Value& value);
  void verify(Step& step);
  void widen_then_narrow(std::vector<Step*> steps);

  const KnobFiles& files_;
  Originals& originals_;
  const Clock& clock_;
  std::map<KnobKey, Held> held_;
};

}  // namespace koord::knob
