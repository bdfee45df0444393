// SPDX-License-Identifier: Apache-2.0
// The state of a node that plugins must not change, read before and after an attack, and a guard process that always
// restores it.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace koord::hostile {

// A cgroup of the test in each hierarchy. Attackers find it by this name below the root.
class Canary {
 public:
  Canary();
  ~Canary();
  static std::string name() { return "koord-test-hostile"; }
};

// Name of a part of the state → its content.
using NodeState = std::map<std::string, std::string>;

// Reads the agent's limits, cgroup, priorities and state; the limits of the canary's cgroups and of these processes'
// cgroups; kernel settings; the folders with plugins.
NodeState read_node_state(pid_t agent, const std::vector<pid_t>& plugins, const std::vector<std::string>& folders);

// Returns each difference as "core_pattern: 'core', then '|/bin/false'".
std::vector<std::string> differences(const NodeState& before, const NodeState& after);

// Returns the processes of the attacks' plugins: this build's koord-plugin-host, and processes that it started.
std::vector<pid_t> hostile_processes();
// Returns the processes that should outlive their plugin.
std::vector<pid_t> hostile_daemons();
// Returns whether process 1 has still to reap processes of plugins. Until then they count as processes of the plugin's
// user.
bool has_zombies_of_plugins();
// Returns the cgroups of the attacks' plugins.
std::vector<std::string> hostile_cgroups();
void remove_hostile_cgroups();

// Returns "name: value" of /proc/PID/status; 0 if it is missing.
long status_number(pid_t pid, std::string_view key);
// Returns the CPU time of the process in seconds.
double cpu_seconds(pid_t pid);
long zombies_of(pid_t pid);
long descriptors_of(pid_t pid);

// Starts a process that outlives this one in every case. Then it restores core_pattern and ends hostile processes.
void start_guard();

}  // namespace koord::hostile
