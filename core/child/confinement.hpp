// SPDX-License-Identifier: Apache-2.0
// Confinement: the cgroup that the children of one plugin live in, with the limits of that plugin. Controllers that the
// node's tree does not offer are told, not errors; for memory there is Process::limit_memory() then. [any thread]
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/cgroup/layout.hpp"
#include "core/host/home.hpp"

namespace koord::child {

// Below the root of the hierarchy; a cgroup for each plugin in it, by its id.
inline constexpr std::string_view kPluginsCgroup = "koordetector-plugins";

// Ends what the children of an agent that was killed have left behind: processes in these cgroups whose parent is gone.
// To be called before there are children. Returns how many there were.
std::size_t end_orphans(const cgroup::Layout& layout);

class Confinement {
 public:
  // Makes "koordetector-plugins/<name>" with these limits, or gives that new ones.
  Confinement(const cgroup::Layout& layout, const std::string& name, const host::HomeLimits& limits);
  ~Confinement();  // removes what it made, unless another child lives in it
  Confinement(const Confinement&) = delete;
  Confinement& operator=(const Confinement&) = delete;

  void add(pid_t pid);
  // Processes that were added get no more memory than they may have.
  bool limits_memory() const { return limits_memory_; }

  // The plugin's id, or, when processes live in a cgroup of that name, "id~2" and so on: a plugin that is about to be
  // replaced and the one that takes its place do not share their limits.
  static std::string free_name(const cgroup::Layout& layout, const std::string& plugin_id);

  // Which limit does not hold, and why; empty when all do.
  const std::string& problems() const { return problems_; }
  // Processes that the kernel killed for want of memory since this was made.
  std::uint64_t oom_kills() const;

 private:
  struct Limit {
    cgroup::Controller controller;
    std::string v1_file, v1_value, v2_file, v2_value;
  };
  bool limit(const Limit& limit);
  Result<void> try_limit(const Limit& limit);
  std::uint64_t count_oom_kills() const;

  const cgroup::Layout& layout_;
  const std::string cgroup_;
  std::string problems_;
  bool limits_memory_ = false;
  std::uint64_t oom_kills_before_ = 0;
};

}  // namespace koord::child
