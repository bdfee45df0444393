// SPDX-License-Identifier: Apache-2.0
// Effects of an attack that the attack itself cannot see, and log lines that the agent must write about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "test/hostile/attacks.hpp"
#include "test/hostile/raid.hpp"
#include "test/support/agent_process.hpp"

namespace koord::hostile {

// Returns complaints. Empty: the attack had no effect, and the log has the expected lines.
std::vector<std::string> effects_of(const Attack& attack, const test::AgentProcess& agent, Rights rights);

// Does the same after the agent's end.
std::vector<std::string> effects_on_stop(const Attack& attack, const std::string& log);

// Returns whether this step is harmless for a plugin with fewer isolation layers, because every user may do it, or root
// without capabilities does it. README.md explains this.
bool is_harmless_step(Rights rights, const Attack& attack, std::string_view step);

// Returns whether a log line must name the plugin of this flood. This is not necessary if the flood costs the agent
// nothing and the plugin little, and if the kernel or the plugin's process limits it, which the agent does not see.
bool is_flood_named(const Attack& attack);

// Returns whether the attack sent the agent a request that was refused, so a log line must name the plugin. The agent
// does not see calls that the kernel refuses.
bool is_noticed_by_agent(const Attack& attack, std::string_view answer);

}  // namespace koord::hostile
