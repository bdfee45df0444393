// SPDX-License-Identifier: Apache-2.0
// Strategies on a node without a cluster: a file names the cgroups, the NodeSLO is a file, too, and operators override
// modes and read decisions. Follows the example of packaging/README.md, with the test's own cgroups.
#include <doctest/doctest.h>

#include <csignal>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord::test;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct Node {
  RealCgroup cgroup{"nightly"}, shop{"shop"};
  TemporaryFolder folder;
  ChildProcess load{{"sh", "-c", "while :; do :; done"}, folder / "load.log"};
  std::unique_ptr<AgentProcess> agent;
  const std::string original = limit_of(cgroup);

  Node() {
    cgroup.add_process(load.pid());
    write_pods("");
    // Any machine uses more than 1 percent, so best-effort pods are always suppressed.
    REQUIRE(koord::write_file_atomically(folder / "slo.yaml",
                                         "kind: NodeSLO\nspec: {resourceUsedThresholdWithBE: {enable: true, "
                                         "cpuSuppressThresholdPercent: 1, cpuSuppressPolicy: cfsQuota}}\n"));
    agent = std::make_unique<AgentProcess>(
        "state: {source: file, file: {pods: " + folder / "pods.yaml" + ", nodeSLO: " + folder / "slo.yaml" + "}}",
        std::vector<std::string>{built("plugins/qos-cpu-suppress"), built("plugins/advisor-node-resource"),
                                 built("plugins/advisor-pod-resource")});
    REQUIRE(agent->start());
  }
  ~Node() {
    agent.reset();
    load.signal(SIGKILL);
    load.wait(std::chrono::seconds(60));
  }
  void write_pods(const std::string& annotation) {
    REQUIRE(koord::write_file_atomically(
        folder / "pods.yaml",
        "kind: PodList\nitems:\n- metadata: {uid: nightly, namespace: batch, name: nightly,"
        " labels: {koordinator.sh/qosClass: BE},"
        " annotations: {koordetector.sh/cgroup-dir: " +
            cgroup.dir() + annotation +
            "}}\n  spec: {containers: [{name: main}]}\n"
            "- metadata: {uid: shop, namespace: machine, name: shop, labels: {koordinator.sh/qosClass: LS},"
            " annotations: {koordetector.sh/cgroup-dir: " +
            shop.dir() + "}}\n  spec: {containers: [{name: main}]}\n"));
  }
  // Returns the limit of CPU time from the kernel.
  static std::string limit_of(const RealCgroup& cgroup) {
    const std::string directory = cgroup.path(koord::cgroup::Controller::cpu);
    const auto v1 = koord::read_file(directory + "/cpu.cfs_quota_us");
    return std::string(koord::trim(v1 ? *v1 : *koord::read_file(directory + "/cpu.max")));
  }
  std::string limit() const { return limit_of(cgroup); }
  bool limit_becomes_original() {
    return eventually([this] { return limit() == original; }, std::chrono::seconds(60));
  }
  bool limit_becomes_another() {
    return eventually([this] { return limit() != original; }, std::chrono::seconds(60));
  }
  std::string ctl(std::vector<std::string> arguments) const { return agent->ctl(std::move(arguments)).output; }
};

}  // namespace

TEST_CASE_FIXTURE(
    Node, "in shadow mode a strategy records its proposal for a cgroup that a file names, and changes nothing") {
  REQUIRE(eventually(
      [this] {
        return has(ctl({"why", "batch/nightly"}), "qos-cpu-suppress");
      },
      std::chrono::seconds(60)));
  const std::string why = ctl({"why", "nightly"});
  INFO(why);
  CHECK(has(why, "batch/nightly, BE, in " + cgroup.dir() + "\n"));
  CHECK(has(why, "cpu.max"));
  CHECK(has(why, "shadow"));
  CHECK(limit() == original);
  const std::string decisions =
      ctl({"decisions", "--pod", "batch/nightly", "--knob", "cpu.max", "--outcome", "shadow", "-o", "json"});
  INFO(decisions);
  CHECK(has(decisions, "\"plugin\":\"qos-cpu-suppress\""));
  CHECK(has(ctl({"knobs"}), cgroup.dir()));
  CHECK(has(ctl({"mode"}), "qos-cpu-suppress  shadow"));
  CHECK(find_metric(agent->metrics(), "koordetector_host_active_intents", {"result=\"shadow\""}).value_or(0) >= 1);
  CHECK(find_metric(agent->metrics(), "koordetector_host_knobs_held") == 0);
}

TEST_CASE_FIXTURE(Node,
                  "an operator's override is applied, and reverted at its end, by hands-off, and at the agent's end") {
  const std::string output = ctl({"mode", "qos-cpu-suppress", "enforce", "--for", "1h"});
  CHECK_MESSAGE(has(output, "qos-cpu-suppress is in enforce until "), output);
  REQUIRE(limit_becomes_another());
  CHECK(has(ctl({"why", "nightly"}), "applied"));
  CHECK(has(ctl({"why", "machine/shop"}), "No strategy manages this pod."));
  CHECK(limit_of(shop) == original);
  CHECK(find_metric(agent->metrics(), "koordetector_host_knobs_held").value_or(0) >= 1);

  write_pods(", koordetector.sh/hands-off: qos-cpu-suppress");
  CHECK(limit_becomes_original());
  CHECK(has(ctl({"why", "nightly"}), "The pod says hands off: qos-cpu-suppress"));
  CHECK(eventually([this] { return has(ctl({"events"}), "reverted knobs set by qos-cpu-suppress: cpu.max"); }));
  write_pods("");
  CHECK(limit_becomes_another());

  REQUIRE(agent->ctl({"mode", "node", "off", "--for", "10s"}).exit_status == 0);
  CHECK(limit_becomes_original());
  CHECK(limit_becomes_another());  // the override has ended
  const std::string switches = ctl({"decisions", "--outcome", "switched"});
  INFO(switches);
  CHECK(has(switches, "(koordctl) for 10s"));
  CHECK(has(switches, "the operator's setting has expired"));

  CHECK(agent->stop() == 0);
  CHECK(limit() == original);
  REQUIRE(agent->start());
  CHECK(has(ctl({"decisions", "--outcome", "switched"}), "(koordctl) for 10s"));
  CHECK(has(ctl({"mode"}), "qos-cpu-suppress  shadow"));
}

TEST_CASE_FIXTURE(
    Node, "a cap above the value that a cgroup already has is applied and says that the value is already lower") {
  const std::string directory = cgroup.path(koord::cgroup::Controller::cpu);
  const bool is_v1 = koord::read_file(directory + "/cpu.cfs_quota_us").has_value();
  REQUIRE(koord::write_value(directory + (is_v1 ? "/cpu.cfs_quota_us" : "/cpu.max"), is_v1 ? "1000" : "1000 100000"));
  const std::string low = limit();
  REQUIRE(agent->ctl({"mode", "qos-cpu-suppress", "enforce", "--for", "1h"}).exit_status == 0);
  const auto why = [this] { return ctl({"why", "nightly"}); };
  CHECK_MESSAGE(eventually([&] { return has(why(), "; the value is already lower"); }, std::chrono::seconds(60)),
                why());
  CHECK_MESSAGE(has(why(), "cpu.max 1000 100000 = original 1000, cap "), why());
  CHECK(limit() == low);
}

TEST_CASE_FIXTURE(Node, "a wrong question is answered with the valid form") {
  CHECK(has(ctl({"why", "batch/daily"}), "no pod 'batch/daily' on this node"));
  CHECK(has(ctl({"mode", "qos-cpu-supress", "off", "--for", "1h"}), "did you mean 'qos-cpu-suppress'?"));
  CHECK(has(ctl({"mode", "qos-cpu-suppress", "on", "--for", "1h"}), "expected off, shadow, enforce, or configured"));
  CHECK(has(ctl({"mode", "qos-cpu-suppress", "off"}), "--for TIME is missing"));
  CHECK(has(ctl({"mode", "qos-cpu-suppress", "off", "--for", "1y"}), "--for '1y' is not a duration"));
  CHECK(has(ctl({"mode", "qos-cpu-suppress", "off", "--for", "1"}), "--for '1' is not a duration"));
  CHECK(has(ctl({"decisions", "--knob", "cpu.mx"}), "'cpu.mx' is not a knob, did you mean 'cpu.max'?"));
  CHECK(ctl({"decisions", "--plugin", "nothing"}) == "no decision matches\n");
  write_pods(", koordetector.sh/hands-off: \"yes\"");
  CHECK(eventually([this] {
    return has(ctl({"why", "nightly"}),
               "The pod says hands off: 'yes', which is neither \"true\", a knob nor a strategy: ignored\n");
  }));
  CHECK(has(ctl({"mode", "node", "enforce", "--for", "1h"}), "expected off or shadow"));
  CHECK(has(ctl({"decisions", "--outcome", "fine"}), "'fine' is not a result"));
}
