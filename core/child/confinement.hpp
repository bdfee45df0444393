// SPDX-License-Identifier: Apache-2.0
// Confinement: the cgroup of one child, below that of its plugin, which has the limits of all children of that plugin.
// A controller that the node lacks is a problem in words, not an error; Process::limit_memory() replaces that of
// memory.
//
// One tree knows which process belongs to which child: the unified one where it exists, also without controllers, for
// its cgroup.kill; else that of pids. There the child has a cgroup of its own: koordetector-plugins/ID/child-N. [any
// thread]
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/cgroup/layout.hpp"
#include "core/host/runner.hpp"

namespace koord::child {

class Confinement {
 public:
  // Makes "koordetector-plugins/<name>" with these limits, or gives that new ones, and locks it (orphans.hpp). Makes
  // the child's own cgroup in it.
  Confinement(const cgroup::Layout& layout, const std::string& name, const host::RunnerLimits& limits);
  ~Confinement();  // ends its remaining processes and removes its cgroup, unless another child uses it
  Confinement(const Confinement&) = delete;
  Confinement& operator=(const Confinement&) = delete;

  // Where the kernel refuses to move the process to the first place, the cgroup moves below the agent's own.
  void add(pid_t pid);
  // Ends every process of this child: those that were added and all that these have started.
  void end_all();
  // Processes that were added get no more memory than they may have.
  bool limits_memory() const { return limits_memory_; }

  // The plugin's id, or, when processes live in a cgroup of that name, "id~2" and so on: a plugin that is about to be
  // replaced and the one that takes its place do not share their limits.
  static std::string free_name(const cgroup::Layout& layout, const std::string& plugin_id);

  // Returns the processes of all children of a plugin; empty where no tree assigns processes to plugins.
  static std::vector<std::int32_t> processes_of(const cgroup::Layout& layout, const std::string& plugin_id);

  // Returns the limits that do not hold, and why, and whether the lock is missing; empty: all hold.
  const std::string& problems() const { return problems_; }
  // Processes that the kernel killed for lack of memory since this was made.
  std::uint64_t oom_kills() const;

 private:
  struct Limit {
    cgroup::Controller controller;
    std::string v1_file, v1_value, v2_file, v2_value;
  };
  void make();
  void make_shared();
  void make_own();
  Result<void> make_below(const std::string& parent, const std::string& own);
  bool lock();
  void remove();
  bool move(pid_t pid, const std::string& directory, std::map<std::string, bool>& moved_to);
  std::string place_of(cgroup::Controller controller) const;
  void note(const std::string& problem);
  bool is_out_of_reach(pid_t pid) const;
  bool limit(const Limit& limit);
  bool is_removed(cgroup::Controller controller) const;
  Result<void> try_limit(const Limit& limit);
  std::uint64_t count_oom_kills() const;

  const cgroup::Layout& layout_;
  const std::string name_;
  const host::RunnerLimits limits_;
  std::string plugins_;  // the cgroup that holds those of all plugins
  std::string cgroup_;
  std::string own_;             // directory of the child's own cgroup; empty: there is no tree for it
  std::set<std::string> made_;  // directories of cgroup_, in the trees where it exists
  std::vector<UniqueFd> locks_;
  bool is_gone_ = false;  // a cgroup was missing just after it had been made
  std::string problems_;
  bool limits_memory_ = false;
  std::uint64_t oom_kills_before_ = 0;
};

}  // namespace koord::child
