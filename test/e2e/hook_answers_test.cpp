// SPDX-License-Identifier: Apache-2.0
// The agent's answers to the questions of koord-cri-proxy over the data API's socket, with a hook of the agent and a
// hook of a third party. They are tested in each mode, without an answer, and with hostile questions. Also tests how
// koordctl shows them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/base/file.hpp"
#include "core/http/client.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/eventually.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

constexpr const char* kSpec =
    R"({\"containers\": {\"main\": {\"requests\": {\"kubernetes.io/batch-cpu\": \"500\"}, \"limits\": )"
    R"({\"kubernetes.io/batch-cpu\": \"800\", \"kubernetes.io/batch-memory\": \"64Mi\"}}}})";

// `order`: the command for the careless hook.
std::string question(const std::string& name, const std::string& order = {}, const std::string& more_annotations = {}) {
  return R"({"stage": "PreCreateContainer", "pod": {"name": ")" + name + R"(", "namespace": "shop", "uid": "uid-of-)" +
         name + R"(", "sandboxId": "s", "cgroupParent": "/kubepods/besteffort/pod1",
    "labels": {"koordinator.sh/qosClass": "BE"}, "annotations": {"node.koordinator.sh/extended-resource-spec": ")" +
         kSpec + R"(", "koordetector.sh/test-hook": ")" + order + "\"" + more_annotations + R"(}},
  "container": {"name": "main", "id": "", "annotations": {}, "env": [{"name": "SECRET", "value": "hunter2"}],
    "resources": {"linux.cpu.shares": "2", "linux.cpu.period": "100000"}}})";
}

constexpr const char* kBatchFields =
    R"("linux.cpu.period":"100000","linux.cpu.quota":"80000","linux.cpu.shares":"512","linux.memory.limit":"67108864",)"
    R"("linux.memory.swap":"-1")";

struct HookedAgent {
  // `batch`, `careless`: additional settings of each hook.
  explicit HookedAgent(const std::string& batch = "", const std::string& careless = "") {
    REQUIRE(koord::write_file_atomically(agent.folder() / "pods.yaml", "kind: PodList\napiVersion: v1\nitems: []\n"));
    agent.write_config(config(batch, careless));
    std::filesystem::copy_file(built("test/e2e/plugins/careless_hook.so"), agent.plugin_folder() + "/careless_hook.so");
  }
  std::string config(const std::string& batch, const std::string& careless) {
    const std::string& folder = agent.folder().path();
    return "  settings: {hook-batch-resource: {deadline: 1s" + batch + "}, careless-hook: {deadline: 1s" + careless +
           "}}\nstate: {source: file, file: {pods: " + folder +
           "/pods.yaml}}\nqos: {mode: enforce, directory: " + folder +
           "/qos}\n"
           "hooks: {nri: {socket: \"\"}, deadline: 1s}\n";
  }
  bool start(const std::string& gates = "BatchResource=true,Careless=true") {
    return agent.start({"--feature-gates=" + gates}) && eventually([this] {
             const std::string hooks = agent.get("/api/v1/hooks");
             return has(hooks, "hook-batch-resource") && has(hooks, "careless-hook");
           });
  }
  koord::http::ClientResponse post(const std::string& stage, const std::string& body) const {
    auto answer = koord::http::post(agent.socket(), "/api/v1/hooks/" + stage, body, 30s);
    REQUIRE_MESSAGE(answer, answer.error().message());
    return *answer;
  }
  std::string create(const std::string& body) const { return post("PreCreateContainer", body).body; }
  std::string decisions(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"decisions", "--kind", "hook"});
    return agent.ctl(more).output;
  }

  AgentProcess agent{"", {built("plugins/hook-batch-resource")}};
};

}  // namespace

TEST_CASE("the agent answers the question of koord-cri-proxy, and koordctl shows the fields with their reasons") {
  HookedAgent hooked;
  REQUIRE(hooked.start());
  CHECK(hooked.create(question("web")) ==
        std::string(R"({"fields":{)") + kBatchFields + R"(,"env:FROM_CARELESS":"1","env:ANNOTATIONS":""}})" + "\n");
  CHECK(hooked.post("PreRunPodSandbox", question("web")).status == 400);  // the body names a different stage
  std::string update = question("web");
  update.replace(update.find("PreCreateContainer"), std::string("PreCreateContainer").size(),
                 "PreUpdateContainerResources");
  CHECK(hooked.post("PreUpdateContainerResources", update).body == "{}\n");  // neither hook handles this stage
  CHECK(eventually([&] { return has(hooked.decisions(), "env:FROM_CARELESS"); }));
  const std::string why = hooked.agent.ctl({"why", "shop/web"}).output;
  INFO(why);
  CHECK(has(why, "Answers of runtime hooks when it was made or updated:"));
  CHECK(has(why, "linux.cpu.shares"));
  CHECK(has(why, "enforce  applied"));
  CHECK_FALSE(has(hooked.agent.get("/api/v1/why?pod=shop/web"), "hunter2"));
  const std::string hooks = hooked.agent.ctl({"hooks"}).output;
  INFO(hooks);
  CHECK(has(hooks, "NRI: off, hooks.nri.socket is empty\n"));
  CHECK(has(hooks, "koord-cri-proxy: 3 questions"));
  CHECK(has(hooks, "1 changed, 1 unchanged, 0 rejected, 1 invalid\n"));
  const std::string metrics = hooked.agent.metrics();
  CHECK(find_metric(metrics, "koordetector_host_hook_seconds_count",
                    {R"(plugin="hook-batch-resource")", R"(stage="PreCreateContainer")"}) == 1);
  for (const char* result : {"changed", "unchanged", "invalid"}) {
    INFO(result);
    CHECK(find_metric(metrics, "koordetector_host_hook_proxy_questions_total",
                      {"result=\"" + std::string(result) + "\""}) == 1);
  }
  CHECK(find_metric(metrics, "koordetector_host_hook_proxy_questions_total", {R"(result="rejected")"}) == 0);
  CHECK(hooked.agent.stop() == 0);
}

TEST_CASE("a hook in shadow mode is only recorded, one that is off is not asked, hands-off is left out") {
  HookedAgent hooked("", ", mode: shadow");
  REQUIRE(hooked.start());
  CHECK_FALSE(has(hooked.create(question("quiet")), "FROM_CARELESS"));
  CHECK(eventually([&] { return has(hooked.decisions({"--outcome", "shadow"}), "env:FROM_CARELESS"); }));
  // in shadow mode no rejection has an effect
  CHECK(hooked.create(question("quiet", "reject")).starts_with(R"({"fields")"));
  const std::string excluded =
      hooked.create(question("excluded", "", R"(, "koordetector.sh/hands-off": "memory.max")"));
  CHECK_MESSAGE((!has(excluded, "linux.memory.limit") && has(excluded, "linux.cpu.quota")), excluded);
  CHECK(eventually([&] { return has(hooked.decisions({"--outcome", "hands_off"}), "linux.memory.limit"); }));
  CHECK(hooked.create(question("bypassed", "", R"(, "koordetector.sh/hands-off": "true")")) == "{}\n");
  CHECK(hooked.agent.ctl({"mode", "hook-batch-resource", "off", "--for", "1h"}).exit_status == 0);
  CHECK(hooked.create(question("off")) == "{}\n");
  CHECK(has(hooked.agent.ctl({"hooks"}).output, "off"));
  CHECK(find_metric(hooked.agent.metrics(), "koordetector_host_hooks_bypassed_total", {R"(reason="pod")"}) == 1);
}

TEST_CASE("a hook that sleeps, crashes or answers garbage loses only its own fields, and the log names it") {
  HookedAgent hooked;
  REQUIRE(hooked.start());
  CHECK(hooked.create(question("rejected", "reject")) == "{\"rejection\":\"careless-hook: no device is free\"}\n");
  CHECK(eventually([&] { return has(hooked.decisions({"--outcome", "refused"}), "no device is free"); }));
  CHECK(hooked.create(question("late", "sleep")) == std::string(R"({"fields":{)") + kBatchFields + "}}\n");
  CHECK(eventually([&] { return has(hooked.decisions({"--pod", "shop/late"}), "failed: did not answer within"); }));
  const std::string hooks = hooked.agent.ctl({"hooks"}).output;
  CHECK_MESSAGE(has(hooks, "did not answer within"), hooks);
  // The agent may have killed it while it slept, and restarts it.
  const std::string both =
      std::string(R"({"fields":{)") + kBatchFields + R"(,"env:FROM_CARELESS":"1","env:ANNOTATIONS":""}})" + "\n";
  CHECK(eventually([&] { return hooked.create(question("between")) == both; }));
  CHECK(hooked.create(question("garbled", "garbage")) == both);  // refused fields are left out
  CHECK(eventually([&] { return has(hooked.agent.log(), "careless-hook: a field of its answer is refused: "); }));
  CHECK(hooked.create(question("crashed", "crash")) == std::string(R"({"fields":{)") + kBatchFields + "}}\n");
  CHECK(eventually(
      [&] { return has(hooked.agent.log(), "careless-hook gave no answer for container main of shop/crashed: "); }));
  CHECK(hooked.agent.stop() == 0);
}

TEST_CASE("a rejection with control characters and 1 MiB of text is harmless and names its hook") {
  HookedAgent hooked;
  REQUIRE(hooked.start());
  const std::string answer = hooked.create(question("noisy", "noise"));
  CHECK_MESSAGE(answer.starts_with(R"({"rejection":"careless-hook: )"), answer);
  CHECK(answer.size() < 4096);
  CHECK(eventually([&] { return has(hooked.decisions(), "refused"); }));
  for (const std::string& shown :
       {hooked.decisions(), hooked.agent.ctl({"why", "shop/noisy"}).output, hooked.agent.log()}) {
    CHECK_FALSE(has(shown, "\x1b["));
    CHECK(has(shown, "careless-hook"));
  }
}

TEST_CASE("with onTimeout: fail a hook that sleeps or crashes refuses the container in its name") {
  HookedAgent hooked("", ", onTimeout: fail");
  REQUIRE(hooked.start());
  const std::string refused = hooked.create(question("refused", "crash"));
  CHECK_MESSAGE(refused.starts_with(R"({"rejection":"careless-hook: )"), refused);
  CHECK(eventually([&] { return has(hooked.create(question("between")), "FROM_CARELESS"); }));
  CHECK(has(hooked.create(question("refused", "sleep")), R"({"rejection":"careless-hook: did not answer within)"));
}

TEST_CASE("a hostile question is refused with what is expected, and the agent is unharmed") {
  HookedAgent hooked;
  REQUIRE(hooked.start());
  const auto unknown = hooked.post("PostStopContainer", question("web"));
  CHECK(unknown.status == 404);
  CHECK_MESSAGE(has(unknown.body, "expected one of PreRunPodSandbox, PreCreateContainer, PreUpdateContainerResources"),
                unknown.body);
  for (const std::string& body : {std::string(), std::string("{"), std::string("[]"), std::string(60'000, '['),
                                  std::string("{\"pod\": {\"name\": \"\\u0000\"}}"), std::string("\xff\xfe")}) {
    const auto refused = hooked.post("PreCreateContainer", body);
    CHECK(refused.status == 400);
    CHECK_MESSAGE(has(refused.body, R"({"error":)"), refused.body);
  }
  CHECK(hooked.post("PreCreateContainer", std::string(3 << 20, ' ')).status == 413);
  CHECK(hooked.agent.status_of("/api/v1/hooks/PreCreateContainer") == 405);
  CHECK(hooked.agent.post_over_tcp("/api/v1/hooks/PreCreateContainer") == 404);  // only the unix socket serves it
  CHECK(has(hooked.create(question("web")), R"("fields")"));
}
