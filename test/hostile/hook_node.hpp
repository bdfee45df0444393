// SPDX-License-Identifier: Apache-2.0
// HookNode: pods for the runtime hooks of a raid, with cgroups on this kernel, and a container runtime that asks the
// agent about new containers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/core/hook/nri/fake_runtime.hpp"
#include "test/hostile/attacks.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/real_cgroup.hpp"

namespace koord::hostile {

class HookNode {
 public:
  // `folder`: the agent's folder.
  explicit HookNode(const std::string& folder);

  // Returns lines for the agent's configuration.
  std::string configuration() const;
  // Changes an annotation of the pods, so hooks are asked again.
  void change_pods();
  static constexpr long kSubjects = 4;  // pods and containers

  // Returns the values in the pods' cgroups that differ from the neighbour's values; empty: all are right.
  std::string difference() const;
  // Lets the runtime create a container. Returns the agent's answer; nullopt if no answer arrives.
  std::optional<nri::Response> create_container();

 private:
  struct Pod {
    Pod(const test::RealCgroup& top, const std::string& pod_name)
        : name(pod_name), cgroup(top, pod_name), container(cgroup, "main") {}

    std::string name;
    test::RealCgroup cgroup, container;
  };

  void write_pods() const;

  const std::string pods_path_, socket_;
  long version_ = 0;
  test::RealCgroup top_{"hostile-pods"};
  Pod first_{top_, "first"}, second_{top_, "second"};
  test::LoopHere here_;
  std::unique_ptr<test::FakeRuntime> runtime_;
};

// Waits for a condition. Returns false if it does not become true, or the agent has ended.
using Watch = std::function<bool(const std::function<bool()>& condition)>;

// Returns complaints about a hook's attack: values of a different hook are missing in the pods or in a new container, a
// forbidden answer was applied, or the writes for alternating answers are not limited.
std::vector<std::string> complaints_about_hooks(const Attack& attack, const test::AgentProcess& agent, HookNode& node,
                                                const Watch& watch);

}  // namespace koord::hostile
