// SPDX-License-Identifier: Apache-2.0
// A plugin with limits on this machine's kernel, and waiting processes.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "core/base/node_roots.hpp"
#include "core/cgroup/layout.hpp"
#include "core/cgroup/processes.hpp"
#include "core/child/plugins_cgroup.hpp"
#include "test/support/child_process.hpp"

namespace koord::child {

struct Node {
  cgroup::Layout layout = *cgroup::Layout::detect(NodeRoots());
  std::string id = "koord-test-" + std::to_string(::getpid());
  std::string plugin() const { return std::string(kPluginsCgroup) + "/" + id; }
  std::string file(cgroup::Controller controller, const std::string& name) {
    return layout.directory(controller, plugin()) + "/" + name;
  }
  // Returns whether the process is in the cgroup of the plugin or of one of its children.
  bool is_member(cgroup::Controller controller, pid_t pid) {
    const auto members = cgroup::members_of(layout.directory(controller, plugin()));
    return members && std::find(members->pids.begin(), members->pids.end(), pid) != members->pids.end();
  }
};

// A process that waits for a signal before it continues.
class Waiting {
 public:
  explicit Waiting(const std::function<void()>& then) {
    REQUIRE(::pipe(ends_) == 0);
    process_ = std::make_unique<test::ChildProcess>([this, &then] {
      ::close(ends_[1]);
      char byte;
      if (::read(ends_[0], &byte, 1) == 0) then();
    });
    ::close(ends_[0]);
  }
  test::ChildProcess& process() { return *process_; }
  void go() { ::close(ends_[1]); }

 private:
  int ends_[2];
  std::unique_ptr<test::ChildProcess> process_;
};

}  // namespace koord::child
