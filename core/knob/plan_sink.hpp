// SPDX-License-Identifier: Apache-2.0
// PlanSink: takes what strategies propose. One evaluate() gives one plan, which replaces the strategy's plan before.
// Governor (governor.hpp) is the one that decides; tests have others. [any thread]
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/knob/intent.hpp"

namespace koord::knob {

// Mode of a strategy. off: intents are ignored; shadow: recorded, not written; enforce: written.
enum class Mode { off, shadow, enforce };

// A plugin may have several strategies; each has a plan of its own. So has each of its sessions, for one may still end
// when another has begun.
struct Proposer {
  std::string plugin;
  std::string name;  // of the class
  std::uint64_t life = 0;

  auto operator<=>(const Proposer&) const = default;
};

enum class Outcome {
  applied,      // the knob has this value
  shadow,       // it would have been written
  off,          // the strategy is switched off
  hands_off,    // the pod says, or an operator of the node, that this is not to be turned
  lost,         // to the winner
  unsupported,  // this node has no such knob
  gone,         // the cgroup has ended
  failed,       // the kernel did not take it
  contested,    // another process keeps writing another value: left alone
  expired,      // not proposed again within its ttl
  reverted,     // no intent is left: it has its original value
  left,         // no intent is left, and another program has written it since
  switched,     // no knob: a mode was changed
  // Outcomes of evictions (core/evict); shadow, gone and hands_off as above.
  evicted,    // the API server took it
  killed,     // its containers were ended: the API server did not take it, and memory was very short
  pending,    // it is going already
  refused,    // by the API server, or it is not asked before a while
  budget,     // so many have gone that no more may for now
  brake,      // so many were picked that no pod is evicted for now
  opted_out,  // the pod does not allow it, or is not one to be evicted
  unknown,    // whether the pod is still what it was: the kubelet is away
  asked,      // the eviction was sent to the API server, which has not answered yet
  unanswered, // it was sent, and no answer says whether it was done
};
std::string_view name_of(Outcome outcome);
// Parses such a name; an error names all.
Result<Outcome> parse_outcome(std::string_view text);

// The result of one intent.
struct IntentResult {
  Outcome outcome = Outcome::off;
  std::string knob, cgroup_dir;
  std::string final_value;  // the knob's; empty: not known
  std::string winner;       // the plugin of the winning intent; empty: none
  std::string problem;      // why it is not applied; empty: unknown or no failure
};

// Reports to a strategy; must only post, and may come on any thread, also before take() returns.
using Tell = std::function<void(std::vector<IntentResult>)>;

class PlanSink {
 public:
  virtual ~PlanSink() = default;
  // `tell` gets the result of each intent, at once, and later the changed ones.
  virtual void take(const Proposer& proposer, Plan plan, Tell tell) = 0;
  // The same plan as the last, word for word. false: it does not stand any more, take it.
  virtual bool repeat(const Proposer& /*proposer*/) { return false; }
  // The strategy has ended: all its intents end.
  virtual void withdraw(const Proposer& proposer) = 0;
  // Sets the mode of all strategies of a plugin, from now on; nullopt: the node's.
  virtual void set_mode(std::string_view plugin, std::optional<Mode> mode) = 0;
};

}  // namespace koord::knob
