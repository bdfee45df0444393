// SPDX-License-Identifier: Apache-2.0
// Raid: a real agent with its own plugin in its process, a well-behaved third-party plugin in a child, and the plugins
// of one or more attacks. Returns the verdict about each attack.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "test/hostile/attacks.hpp"
#include "test/hostile/node_state.hpp"

namespace koord::hostile {

// The agent's rights: all rights of root, as packaging/quickstart starts it; the rights of the systemd unit; the rights
// of the chart's container; and root's rights without Landlock or without CAP_SETUID, so plugins have one layer less.
enum class Rights { root, unit, chart, without_landlock, without_setuid };
Rights rights_of(std::string_view name);
// Returns the layer that is left out on purpose; empty if all layers are used.
std::string_view lacking_layer(Rights rights);
// Returns the command prefix that starts the agent with these rights; `folder` stays writable.
std::vector<std::string> words_of(Rights rights, const std::string& folder);

struct Verdict {
  std::string attack;
  std::vector<std::string> complaints;  // empty: the attack failed
  std::string note;                     // numbers, and the attack's messages
};

// Returns how many attacks of a batch share one agent, and the attacks in groups of this size. Hooks have separate
// groups.
std::size_t group_size(Batch batch);
std::vector<std::vector<const Attack*>> groups_of(const std::vector<const Attack*>& attacks, std::size_t size);

// Runs these attacks in one agent. Attacks of batches other than QUIET come alone.
std::vector<Verdict> run_raid(const std::vector<const Attack*>& attacks, Rights rights);

}  // namespace koord::hostile
