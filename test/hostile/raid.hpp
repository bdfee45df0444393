// SPDX-License-Identifier: Apache-2.0
// Raid: a real agent with a first-party plugin in its process, a well-behaved third-party one in a child, and the
// plugins of one or more attacks; and the verdict about each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "test/hostile/attacks.hpp"
#include "test/hostile/node_state.hpp"

namespace koord::hostile {

// The rights that the agent has: all of root's, as packaging/quickstart starts it; those of the systemd unit; those of
// the chart's container; and root's on a kernel without Landlock, or without CAP_SETUID, so that plugins have a layer
// less.
enum class Rights { root, unit, chart, without_landlock, without_setuid };
Rights rights_of(std::string_view name);
// The layer that plugins lack on purpose; empty: none.
std::string_view lacking_layer(Rights rights);
// The words before the agent's own in its command line that give it no more; `folder` stays writable.
std::vector<std::string> words_of(Rights rights, const std::string& folder);

struct Verdict {
  std::string attack;
  std::vector<std::string> complaints;  // empty: it was defended
  std::string note;                     // figures, and the attack's messages
};

// How many attacks of a batch one agent takes, and the attacks in groups of this many. Hooks have groups of their own.
std::size_t group_size(Batch batch);
std::vector<std::vector<const Attack*>> groups_of(const std::vector<const Attack*>& attacks, std::size_t size);

// Runs these attacks in one agent. Those of a batch other than quiet come alone.
std::vector<Verdict> run_raid(const std::vector<const Attack*>& attacks, Rights rights);

}  // namespace koord::hostile
