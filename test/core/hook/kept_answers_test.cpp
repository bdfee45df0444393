// SPDX-License-Identifier: Apache-2.0
#include "core/hook/kept_answers.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/manual_clock.hpp"

using namespace koord;
using namespace koord::hook;
using namespace std::chrono_literals;
using Kind = host::HookReply::Kind;

namespace {

// Stores each proposer's plan and counts the plans.
struct Plans final : knob::PlanSink {
  std::map<decision::Proposer, knob::Plan> plans;
  int taken = 0, repeated = 0;

  void take(const decision::Proposer& proposer, knob::Plan plan, knob::ReportResults) override {
    ++taken;
    plans[proposer] = std::move(plan);
  }
  bool repeat(const decision::Proposer& proposer) override { return ++repeated, plans.contains(proposer); }
  void withdraw(const decision::Proposer& proposer) override { plans.erase(proposer); }
  void set_mode(std::string_view, std::optional<koord::Mode>) override {}
};

state::Pod pod(const std::string& name, std::uint64_t handle) {
  state::Pod made;
  made.handle = handle;
  made.uid = made.name = name;
  made.namespace_ = "shop";
  made.phase = state::Phase::running;
  made.cgroup_dir = name;
  state::Container main;
  main.handle = handle + 1;
  main.name = "main";
  main.cgroup_dir = name + "/main";
  made.containers = {main};
  return made;
}

// A hook that sets the CPU shares `shares` for each container and counts its questions.
struct Node {
  ManualClock clock;
  Plans plans;
  std::vector<RunningHook> running{{"hook-a", "main", KOORD_STAGE_PRE_CREATE_CONTAINER, 1}};
  bool has_ended = false;
  std::string shares = "512";
  Kind kind = Kind::answered;
  double factor = 1;
  bool rejects = false;
  int asked = 0;
  Duration takes{};  // the time for each answer
  std::function<void()> on_ask;
  std::vector<std::string> only_at_creation;  // result of the last update
  state::Snapshot state;
  KeptAnswers answers{{.running = [this] { return running; },
                       .has_ended = [this](const decision::Proposer&) { return has_ended; },
                       .ask =
                           [this](const RunningHook&, const std::shared_ptr<const host::HookSubject>& subject) {
                             ++asked;
                             clock.advance(takes);
                             if (const auto call = on_ask) call();
                             CHECK(subject->stage() == (running[0].stages & subject->stage()));
                             host::HookReply reply{kind, "it broke", {}};
                             reply.settings.fields = {{"linux.cpu.shares", shares}, {"env:A", "1"}};
                             if (factor != 1) reply.settings.scales = {{"linux.cpu.quota", factor}};
                             if (rejects) reply.settings.rejection = "no room";
                             return reply;
                           },
                       .creation_fields =
                           [this](const std::string& plugin, const state::Pod& of, const state::Container& container,
                                  const std::vector<std::string>& fields) {
                             for (const std::string& field : fields)
                               only_at_creation.push_back(plugin + " " + of.name + "/" + container.name + " " + field);
                           },
                       .plans = plans,
                       .clock = clock}};

  Node() { set_pods({pod("web", 10), pod("db", 20)}); }
  void set_pods(std::vector<state::Pod> pods) {
    state.pods = std::move(pods);
    ++state.versions.pods;
  }
  void update() {
    only_at_creation.clear();
    answers.update(std::make_shared<const state::Snapshot>(state));
  }
  const knob::Plan& plan() { return plans.plans.at({"hook-a", "main"}); }
};

}  // namespace

TEST_CASE("a hook is asked about each container once, and its knobs are one plan") {
  Node node;
  node.update();
  CHECK(node.asked == 2);
  REQUIRE(node.plan().size() == 2);
  CHECK(node.plan()[0].cgroup_dir == "web/main");
  CHECK(node.plan()[0].value == "512");
  CHECK(node.plan()[0].reason == "the answer for container main of shop/web");
  node.update();
  CHECK(node.asked == 2);
  CHECK(node.plans.taken == 1);
  CHECK(node.plans.repeated == 1);
}

TEST_CASE("fields that only a creation sets are passed on in each update, also while the hook does not run") {
  Node node;
  const std::vector<std::string> both = {"hook-a web/main env:A", "hook-a db/main env:A"};
  node.update();
  CHECK(node.only_at_creation == both);
  node.running.clear();
  node.update();
  CHECK(node.only_at_creation == both);
  node.set_pods({pod("db", 20)});
  node.update();
  CHECK(node.only_at_creation == std::vector<std::string>{"hook-a db/main env:A"});
}

TEST_CASE("at the pod's stage a hook is asked about pods, for their cgroups") {
  Node node;
  node.running[0].stages = KOORD_STAGE_PRE_RUN_POD_SANDBOX;
  node.update();
  REQUIRE(node.plan().size() == 2);
  CHECK(node.plan()[0].cgroup_dir == "web");
  CHECK(node.plan()[0].level == decision::Level::pod);
}

TEST_CASE("only the pod that changed is asked about again") {
  Node node;
  node.update();
  std::vector<state::Pod> pods{pod("web", 10), pod("db", 20)};
  pods[1].annotations["a"] = "b";
  node.set_pods(pods);
  node.shares = "1024";
  node.update();
  CHECK(node.asked == 3);
  CHECK(node.plan()[0].value == "512");
  CHECK(node.plan()[1].value == "1024");
}

TEST_CASE("another NodeSLO, node, topology, start or configuration asks about all again") {
  Node node;
  node.update();
  int expected = 2;
  const auto again = [&](auto&& change) {
    change();
    node.update();
    CHECK(node.asked == (expected += 2));
  };
  again([&] { ++node.state.versions.node_slo; });
  again([&] { ++node.state.versions.node; });
  again([&] { ++node.state.versions.topology; });
  again([&] { node.running[0].generation = 2; });
}

TEST_CASE("answers are kept while the hook does not run, and end with the pod or the gate") {
  Node node;
  node.update();
  node.running.clear();
  node.update();
  CHECK(node.plan().size() == 2);
  node.set_pods({pod("db", 20)});
  node.update();
  REQUIRE(node.plan().size() == 1);
  CHECK(node.plan()[0].cgroup_dir == "db/main");
  node.has_ended = true;
  node.update();
  CHECK(node.plans.plans.empty());
}

TEST_CASE("a failed hook keeps its answers and is asked again after a while") {
  Node node;
  node.update();
  node.kind = Kind::failed;
  ++node.state.versions.node_slo;
  node.update();
  node.update();
  CHECK(node.asked == 4);
  CHECK(node.plan().size() == 2);
  node.kind = Kind::answered;
  node.shares = "8";
  node.clock.advance(KeptAnswers::kRetry);
  node.update();
  CHECK(node.asked == 6);
  CHECK(node.plan()[1].value == "8");
}

TEST_CASE("a hook that is late is not asked about the other pods in the same pass") {
  Node node;
  node.kind = Kind::timed_out;
  node.update();
  CHECK(node.asked == 1);
  node.kind = Kind::answered;
  node.update();
  CHECK(node.asked == 2);  // the first one waits
  node.clock.advance(KeptAnswers::kRetry);
  node.update();
  CHECK(node.asked == 3);
  CHECK(node.plan().size() == 2);
}

TEST_CASE("a slow hook is asked about the rest in the next update, and about nothing after the stop") {
  Node node;
  node.takes = KeptAnswers::kMostTime;
  node.update();
  CHECK(node.asked == 1);
  node.update();
  CHECK(node.asked == 2);
  CHECK(node.plan().size() == 2);
  node.answers.stop();
  ++node.state.versions.node_slo;
  node.update();
  CHECK(node.asked == 2);
  CHECK(node.plan().size() == 2);
}

TEST_CASE("a container gets its values when its cgroup is known") {
  Node node;
  std::vector<state::Pod> pods{pod("web", 10)};
  pods[0].containers[0].cgroup_dir.clear();
  node.set_pods(pods);
  node.update();
  CHECK(node.plan().empty());
  node.set_pods({pod("web", 10)});
  node.update();
  CHECK(node.plan().size() == 1);
}

TEST_CASE("pods that have ended, sandboxes and ephemeral containers are not asked about") {
  Node node;
  std::vector<state::Pod> pods{pod("web", 10), pod("done", 20)};
  pods[1].phase = state::Phase::succeeded;
  state::Container sandbox = pods[0].containers[0];
  sandbox.handle = 12;
  sandbox.kind = state::ContainerKind::sandbox;
  pods[0].containers.push_back(sandbox);
  sandbox.handle = 13;
  sandbox.kind = state::ContainerKind::ephemeral;
  pods[0].containers.push_back(sandbox);
  node.set_pods(pods);
  node.update();
  CHECK(node.asked == 1);
}

TEST_CASE("a rejection has no effect on an existing pod, and neither have its other fields") {
  Node node;
  node.rejects = true;
  node.update();
  CHECK(node.plan().empty());
  node.update();
  CHECK(node.asked == 2);
}

TEST_CASE("answers for a stage that the hook no longer names end") {
  Node node;
  node.update();
  node.running[0].stages = KOORD_STAGE_PRE_RUN_POD_SANDBOX;
  ++node.running[0].generation;
  node.update();
  REQUIRE(node.plan().size() == 2);
  CHECK(node.plan()[0].cgroup_dir == "web");
  CHECK(node.plan()[1].cgroup_dir == "db");
}

TEST_CASE("the answers for a container that has ended end with it") {
  Node node;
  node.update();
  std::vector<state::Pod> pods{pod("web", 10), pod("db", 20)};
  pods[0].containers[0].state = state::ContainerState::terminated;
  node.set_pods(pods);
  node.update();
  REQUIRE(node.plan().size() == 1);
  CHECK(node.plan()[0].cgroup_dir == "db/main");
}

TEST_CASE("a cgroup that becomes known while the hook does not run gets the kept answer") {
  Node node;
  std::vector<state::Pod> pods{pod("web", 10)};
  pods[0].containers[0].cgroup_dir.clear();
  node.set_pods(pods);
  node.update();
  node.running.clear();
  node.set_pods({pod("web", 10)});
  node.update();
  REQUIRE(node.plan().size() == 1);
  CHECK(node.plan()[0].cgroup_dir == "web/main");
}

TEST_CASE("a slow hook does not prevent another hook's plan from being renewed in time") {
  Node node;
  node.running.push_back({"hook-b", "main", KOORD_STAGE_PRE_CREATE_CONTAINER, 1});
  node.update();
  const int repeated = node.plans.repeated;
  ++node.state.versions.node_slo;
  node.on_ask = [&] {
    CHECK(node.plans.repeated == repeated + 2);
    node.on_ask = {};
  };
  node.update();
  CHECK_FALSE(node.on_ask);
}

TEST_CASE("a container with CPUs of its own and its pod are not throttled, also if their kubelet is known later") {
  Node node;
  node.running[0].stages = KOORD_STAGE_PRE_RUN_POD_SANDBOX | KOORD_STAGE_PRE_CREATE_CONTAINER;
  node.factor = 0.8;
  state::Pod pinned = pod("web", 10);
  pinned.kube_qos = state::KubeQos::guaranteed;
  pinned.containers[0].resources = {{"cpu", 2000, 2000}};
  node.set_pods({pinned, pod("db", 20)});
  const auto scaled = [&] {
    std::string dirs;
    for (const knob::Intent& intent : node.plan())
      if (intent.role == decision::Role::scale) dirs += intent.cgroup_dir + " ";
    return dirs;
  };
  node.update();
  CHECK(scaled() == "web web/main db db/main ");
  node.state.kubelet.emplace().cpu_manager_policy = "static";
  node.update();
  CHECK(scaled() == "db db/main ");
  CHECK(node.asked == 4);
}
