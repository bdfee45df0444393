// SPDX-License-Identifier: Apache-2.0
// RealCgroup: a cgroup of this machine's kernel, in every hierarchy that a workload shows in, removed with the object.
// Needs root: a test calls unavailable() first and exits with kSkip if it returns a reason.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cgroup/layout.hpp"

namespace koord::test {

// meson's exit status for "skipped".
inline constexpr int kSkip = 77;

class RealCgroup {
 public:
  // Why no cgroup can be made here; nullopt when one can.
  static std::optional<std::string> unavailable();

  // Makes "koord-test-<name>-<pid>". With a parent, inside of that.
  explicit RealCgroup(std::string_view name);
  RealCgroup(const RealCgroup& parent, std::string_view name);
  ~RealCgroup();
  RealCgroup(const RealCgroup&) = delete;
  RealCgroup& operator=(const RealCgroup&) = delete;

  // Relative to the hierarchies' roots, as the agent names it.
  const std::string& dir() const { return dir_; }
  std::string path(cgroup::Controller controller) const { return layout_.directory(controller, dir_); }

  // Moves a process with all its threads, or one thread where the hierarchy allows it.
  void add_process(pid_t pid) const;
  void add_thread(pid_t tid) const;

  void limit_cpu(double cores) const;
  void limit_memory(std::uint64_t bytes) const;

  // Kills all processes in it. A program's end leaves those that it has just forked and that do not end with it yet.
  void end_processes() const;

  // Removes it now; its processes must have ended.
  void remove();

 private:
  void delegate() const;
  void make();

  cgroup::Layout layout_;
  std::string dir_;
  std::vector<std::string> made_;
};

}  // namespace koord::test
