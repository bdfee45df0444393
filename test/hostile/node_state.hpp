// SPDX-License-Identifier: Apache-2.0
// State of a node that no plugin may change, read before and after an attack; and a guard that restores it in any case.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace koord::hostile {

// A cgroup of the test's own, in each hierarchy, which attackers find by this name below the root.
class Canary {
 public:
  Canary();
  ~Canary();
  static std::string name() { return "koord-test-hostile"; }
};

// Name of a thing → its content.
using NodeState = std::map<std::string, std::string>;

// The agent's limits, cgroup, priorities and state; limits of the cgroups of the canary and of these processes; the
// kernel's settings; the folders with plugins.
NodeState read_node_state(pid_t agent, const std::vector<pid_t>& plugins, const std::vector<std::string>& folders);

// "core_pattern: 'core', then '|/bin/false'", one for each thing that is another.
std::vector<std::string> differences(const NodeState& before, const NodeState& after);

// Processes of plugins of the attacks that run koord-plugin-host of this build, or what it started.
std::vector<pid_t> hostile_processes();
// Those among them that mean to outlive their plugin.
std::vector<pid_t> hostile_daemons();
// Ended processes of plugins that process 1 has not reaped. Until then they count as processes of the plugin's user.
bool has_zombies_of_plugins();
// Cgroups of the attacks' plugins.
std::vector<std::string> hostile_cgroups();
void remove_hostile_cgroups();

// "name: value" of /proc/PID/status; 0 when it is not there.
long status_number(pid_t pid, std::string_view key);
// CPU time of the process, s.
double cpu_seconds(pid_t pid);
long zombies_of(pid_t pid);
long descriptors_of(pid_t pid);

// A process that outlives this one, however that ends, and then restores core_pattern and ends hostile processes.
void start_guard();

}  // namespace koord::hostile
