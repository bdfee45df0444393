// SPDX-License-Identifier: Apache-2.0
// RealCgroup: a cgroup of this machine's kernel, in all hierarchies that hold workloads, removed with the object. Needs
// root: a test calls unavailable() first and exits with kSkip if it returns a reason.
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
  // Returns why no cgroup can be made on this machine; nullopt if one can be made.
  static std::optional<std::string> unavailable();

  // Makes "koord-test-<name>-<pid>", inside the parent if one is given.
  explicit RealCgroup(std::string_view name);
  RealCgroup(const RealCgroup& parent, std::string_view name);
  ~RealCgroup();
  RealCgroup(const RealCgroup&) = delete;
  RealCgroup& operator=(const RealCgroup&) = delete;

  // Returns the path relative to the hierarchies' roots, as the agent names it.
  const std::string& dir() const { return dir_; }
  std::string path(cgroup::Controller controller) const { return layout_.directory(controller, dir_); }

  // Move a process with all its threads, or one thread if the hierarchy allows it.
  void add_process(pid_t pid) const;
  void add_thread(pid_t tid) const;

  void limit_cpu(double cores) const;
  void limit_memory(std::uint64_t bytes) const;

  // Kills all processes in the cgroup. Children that a program has just forked may outlive the program.
  void end_processes() const;

  // Removes the cgroup now. Its processes must have ended.
  void remove();

 private:
  void delegate() const;
  void make();

  cgroup::Layout layout_;
  std::string dir_;
  std::vector<std::string> made_;
};

}  // namespace koord::test
