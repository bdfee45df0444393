// SPDX-License-Identifier: Apache-2.0
// Sessions: runs an agent that enforces strategies on the cgroups of a node's pods on this kernel, and interrupts it. A
// test provides objects (pods, Node, NodeSLO) and reads the kernel's files:
//
//   Sessions node({.plugins = {"qos-cpu-burst"}, .node_slo = "{cpuBurstStrategy: {policy: auto}}",
//                  .service_limit = "100m"});
//   node.expect(node.quota_file(node.pods.service), {.value = "20000"});
//   REQUIRE(node.start());
//   CHECK(node.settles());
//   node.interrupt(Interruption::sigkill);
//   CHECK(node.settles());
//   CHECK(node.outside() == "");
//
// The node has a service pod that uses all CPU it gets, and an idle best-effort pod, each with one container. Needs
// root.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "test/composed/file_watch.hpp"
#include "test/composed/interruption.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/pods_by_hand.hpp"

namespace koord::test {

// A file's final value. A number on the way must be between this value and the value before the agent, or between
// `on_the_way` and one of these two; -1 and "max" mean no limit. A text that is not a number must be one of these
// values.
struct Target {
  std::string value, on_the_way = {};
};

class Sessions {
 public:
  struct Given {
    // Folders of plugins/, or plugins of test/composed/plugins/own. The first is the strategy that the interruptions
    // reload and reconfigure.
    std::vector<std::string> plugins;
    std::string gates = {};  // "BlkIOReconcile=true"
    std::string node_slo;    // the spec, YAML
    std::string service_limit = "100m";
    std::string service_more_limits = {};  // ", kubernetes.io/batch-cpu: 120"
    std::string batch_resources = "{}";    // resources of the best-effort container
    std::string node_annotations = "{}";   // YAML
    std::string service_qos = "LS";
    std::string service_annotations = "{}";  // YAML
    std::string mode = "enforce";
    std::string config = {};        // the strategy's settings, members of a YAML mapping: "windowSeconds: 5"
    std::string config_again = {};  // an equivalent configuration
  };

  explicit Sessions(const Given& given);
  ~Sessions();

  // Adds an expected value before start(). Files that this kernel does not have are ignored.
  void expect(const std::string& path, const Target& target);
  std::size_t expected() const { return targets_.size(); }

  bool start();
  void interrupt(Interruption interruption);
  // Sends SIGKILL. The session may have any age. The next session begins with start().
  void kill() { agent->kill(); }
  // Sets the gates for the next start.
  void set_gates(const std::string& gates) { gates_ = gates; }
  // Adds lines to the configuration, for the next start() or SIGHUP.
  void configure(const std::string& lines);
  void set_node_slo(const std::string& spec) const { pods.write_slo(folder.path(), spec); }

  // Returns whether each file has its value by a decision of this session, and keeps it for three more rounds of the
  // strategy.
  bool settles();
  bool is_as_before() const { return now() == before_; }
  bool becomes_as_before() const;
  // Return the differences, one line each.
  std::string unsettled() const;
  std::string differences() const;
  // Returns values that a file had at some time outside of its bounds, one line each. Empty: none.
  std::string outside() const;

  std::string quota_file(const RealCgroup& cgroup) const;
  std::string file(const RealCgroup& cgroup, cgroup::Controller controller, std::string_view name) const;
  double rounds() const;  // rounds of the strategy in this session

  TemporaryFolder folder;
  PodsByHand pods{"composed"};
  std::optional<AgentProcess> agent;
  // Arguments of every start(): "--set", "listen.metrics=127.0.0.1:9316".
  std::vector<std::string> arguments;

 private:
  void write_node_files() const;
  std::map<std::string, std::string> now() const;  // all settable files of the cgroups, and the files of the targets
  std::string settings(bool again) const;          // the plugins' settings, a YAML mapping
  std::string config(bool again) const;
  std::vector<std::string> start_arguments() const;
  bool runs_on(double rounds) const;
  bool has_decided() const;  // whether the session has decided about each enforced value

  const Given given_;
  std::string gates_ = given_.gates;
  std::string cgroup_root_;
  bool is_configured_again_ = false;
  std::string lines_;  // lines that configure() wrote
  std::unique_ptr<ChildProcess> service_;
  std::map<std::string, std::string> before_;
  std::map<std::string, Target> targets_;
  std::unique_ptr<FileWatch> watch_;
};

}  // namespace koord::test
