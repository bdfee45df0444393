// SPDX-License-Identifier: Apache-2.0
// Runtime hooks that set values of processes. The processes of a real container get the OOM score of the pod's
// annotation, and later their own score again, with every interruption of the agent. This kernel has no core
// scheduling, and the agent reports so.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/composed/strategy_rows.hpp"
#include "test/support/eventually.hpp"

using namespace koord::test;

namespace {

namespace fs = std::filesystem;

constexpr const char* kGates = "featureGates: {OOMScoreAdj: true, CoreSched: true}\n";
constexpr const char* kNoGates = "featureGates: {OOMScoreAdj: false, CoreSched: false}\n";
constexpr const char* kAnnotations = "{koordinator.sh/oom-score-adj: \"500\"}";
constexpr const char* kCoreSched =
    "resourceQOSStrategy: {policies: {cpuPolicy: coreSched}, lsClass: {cpuQOS: {enable: true}}}";

std::string score_file(pid_t pid) { return "/proc/" + std::to_string(pid) + "/oom_score_adj"; }
std::string score_of(pid_t pid) {
  return std::string(koord::trim(koord::read_file(score_file(pid)).value_or("(unreadable)")));
}

// The service has two processes, one of them with its own score. A third process is outside.
struct ScoredService {
  ScoredService() {
    node.pods.service.add_process(second.pid());
    node.pods.batch.add_process(outside.pid());
    before = score_of(outside.pid());
    own = std::to_string(*koord::parse_int(before) + 7);
    REQUIRE(koord::write_value(score_file(second.pid()), own));
    link(second.pid());
    link(outside.pid());
    for (std::string_view rest = pids; auto pid = koord::next_field(rest, '\n');)
      first = static_cast<pid_t>(koord::parse_int(*pid).value_or(0));
    link(first);
    annotate(kAnnotations);
    node.configure(kGates);
  }

  // Links the real process into the folder that the agent uses as /proc.
  void link(pid_t pid) const {
    const std::string name = std::to_string(pid);
    fs::create_directory_symlink("/proc/" + name, node.folder / "proc/" + name);
  }
  // Sets annotations of the service's pod.
  void annotate(const std::string& annotations) const {
    const std::string path = node.folder / "pods.yaml";
    std::string pods = *koord::read_file(path);
    constexpr std::string_view kKey = ", annotations: ";
    const std::size_t at = pods.find(kKey, pods.find("{uid: service, ")) + kKey.size();
    pods.replace(at, pods.find("}\n", at) - at, annotations);
    REQUIRE(koord::write_file_atomically(path, pods));
  }
  bool are_raised() const { return score_of(first) == "500" && score_of(second.pid()) == "500"; }
  bool are_as_before() const { return score_of(first) == before && score_of(second.pid()) == own; }
  bool become_as_before() const {
    return eventually([&] { return are_as_before(); }, std::chrono::minutes(1));
  }
  bool become_raised() const {
    return eventually([&] { return are_raised(); }, std::chrono::minutes(1));
  }
  std::string scores() const { return score_of(first) + " " + score_of(second.pid()) + " " + node.agent->log(); }
  std::string why() const { return node.agent->ctl({"why", "default/service"}).output; }

  Sessions node{{.plugins = {"qos-cpu-burst", "hook-oom-score-adj", "hook-core-sched"},
                 .node_slo = spec(std::string(kBurst) + ", " + kCoreSched)}};
  ChildProcess second{[] {
    for (;;) ::pause();
  }};
  ChildProcess outside{[] {
    for (;;) ::pause();
  }};
  const std::string pids = *koord::read_file(node.pods.service.path(koord::cgroup::Controller::cpu) + "/cgroup.procs");
  pid_t first = 0;
  std::string before, own;
};

}  // namespace

TEST_CASE_FIXTURE(
    ScoredService,
    "each process of the container gets the score, with every interruption, and later its own score again") {
  node.expect(score_file(first), {"500"});
  node.expect(score_file(second.pid()), {"500"});
  REQUIRE(node.start());
  REQUIRE_MESSAGE(node.settles(), node.unsettled() << node.agent->log());
  CHECK_MESSAGE(why().find("oom_score_adj 500 = base 500 (hook-oom-score-adj)") != std::string::npos, why());
  CHECK(score_of(outside.pid()) == before);
  for (const Interruption interruption : kInterruptions) {
    INFO("after " << name_of(interruption));
    node.interrupt(interruption);
    CHECK_MESSAGE(node.settles(), node.unsettled());
    CHECK_MESSAGE(node.outside() == "", node.outside());
  }
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
  CHECK_MESSAGE(are_as_before(), scores());
}

TEST_CASE_FIXTURE(ScoredService, "the score is reverted with the annotation, and with the gate") {
  REQUIRE(node.start());
  REQUIRE_MESSAGE(become_raised(), scores());
  annotate("{}");
  CHECK_MESSAGE(become_as_before(), scores());
  annotate(kAnnotations);
  CHECK_MESSAGE(become_raised(), scores());
  node.configure(kNoGates);
  node.agent->process().signal(SIGHUP);
  CHECK_MESSAGE(become_as_before(), scores());
}

TEST_CASE_FIXTURE(ScoredService, "in shadow mode the score is shown and no process is written") {
  node.arguments = {"--set", "qos.mode=shadow"};
  REQUIRE(node.start());
  CHECK_MESSAGE(eventually([&] { return why().find("oom_score_adj") != std::string::npos; }, std::chrono::minutes(1)),
                why() << node.agent->log());
  CHECK_MESSAGE(are_as_before(), scores());
  CHECK_MESSAGE(why().find("shadow") != std::string::npos, why());
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(are_as_before(), scores());
}

TEST_CASE_FIXTURE(ScoredService, "after SIGKILL `koordetector restore` restores each process's own score") {
  REQUIRE(node.start());
  REQUIRE_MESSAGE(become_raised(), scores());
  node.kill();
  CHECK(are_raised());
  const Finished restored =
      run_to_end({built("core/agentd/koordetector"), "restore", "--config", node.agent->config_path(), "--set",
                  "qos.directory=" + node.agent->folder() / "qos"});
  CHECK_MESSAGE(restored.exit_status == 0, restored.output);
  CHECK_MESSAGE(restored.output.find("oom_score_adj: reverted, was '500', is '" + before + ", process " +
                                     std::to_string(second.pid()) + ": " + own + "'") != std::string::npos,
                restored.output);
  CHECK_MESSAGE(are_as_before(), scores());
}

TEST_CASE_FIXTURE(ScoredService, "hands-off of the pod reverts the score") {
  REQUIRE(node.start());
  REQUIRE_MESSAGE(become_raised(), scores());
  annotate("{koordinator.sh/oom-score-adj: \"500\", koordetector.sh/hands-off: \"true\"}");
  CHECK_MESSAGE(become_as_before(), scores());
}

TEST_CASE_FIXTURE(ScoredService,
                  "a pod without a valid score, or one that rewrites its own score, is named and left alone") {
  annotate("{koordinator.sh/oom-score-adj-spec: '{\"main\": 100000}'}");
  REQUIRE(node.start());
  CHECK_MESSAGE(eventually(
                    [&] {
                      return node.agent->log().find("pod default/service: koordinator.sh/oom-score-adj-spec: "
                                                    "container 'main' has 100000") != std::string::npos;
                    },
                    std::chrono::minutes(1)),
                node.agent->log());
  CHECK_MESSAGE(are_as_before(), scores());
}

TEST_CASE_FIXTURE(ScoredService,
                  "without core scheduling the missing capability has a reason, and the group is unsupported") {
  REQUIRE(node.start());
  const std::string capabilities = node.agent->ctl({"capabilities"}).output;
  const bool is_absent = capabilities.find("CONFIG_SCHED_CORE") != std::string::npos ||
                         capabilities.find("no simultaneous multithreading") != std::string::npos;
  if (!is_absent) return;  // this kernel has core scheduling
  CHECK_MESSAGE(
      eventually([&] { return why().find("core_sched.group") != std::string::npos; }, std::chrono::minutes(1)),
      why() << node.agent->log());
  CHECK_MESSAGE(why().find("unsupported") != std::string::npos, why());
}
