// SPDX-License-Identifier: Apache-2.0
// HookNode: the pods that the runtime hooks of a raid are asked about, with cgroups on this kernel, and a container
// runtime that asks the agent about new containers.
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
  // `folder`: the agent's.
  explicit HookNode(const std::string& folder);

  // Lines of the agent's configuration.
  std::string configuration() const;
  // The pods get another annotation, so that hooks are asked again.
  void change_pods();
  static constexpr long kSubjects = 4;  // pods and containers

  // The values in the pods' cgroups that are not the neighbour's; empty: all are as they must be.
  std::string difference() const;
  // The runtime creates a container: the answer. nullopt: none came.
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

// Waits for a condition. False: it did not come true, or the agent has ended.
using Watch = std::function<bool(const std::function<bool()>& condition)>;

// Complaints about attacks by hooks, of which this is one: the values of another hook are missing in the pods or in a
// new container, or an answer was taken that must not be; or the writes for one that flaps are not bounded.
std::vector<std::string> complaints_about_hooks(const Attack& attack, const test::AgentProcess& agent, HookNode& node,
                                                const Watch& watch);

}  // namespace koord::hostile
