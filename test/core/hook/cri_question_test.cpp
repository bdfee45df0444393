// SPDX-License-Identifier: Apache-2.0
#include "core/hook/cri_question.hpp"

#include <doctest/doctest.h>

#include "koordetector/plugin.h"

using namespace koord;
using namespace koord::hook;

namespace {

constexpr std::uint32_t kPod = KOORD_STAGE_PRE_RUN_POD_SANDBOX, kCreation = KOORD_STAGE_PRE_CREATE_CONTAINER;

constexpr const char* kQuestion =
    R"({"stage": "PreCreateContainer",
 "pod": {"name": "web-0", "namespace": "shop", "uid": "u1", "sandboxId": "s1", "runtimeHandler": "kata",
         "cgroupParent": "/kubepods/podu1", "labels": {"app": "web"},
         "annotations": {"node.koordinator.sh/extended-resource-spec": "{}", "example.org/large": "unused"}},
 "container": {"name": "main", "id": "", "annotations": {}, "env": [{"name": "A", "value": "1=2"}],
               "resources": {"linux.cpu.shares": "512", "linux.memory.limit": "67108864", "linux.cpuset.cpus": "0-3",
                             "linux.cpu.quota": "0", "linux.later": "x"}}})";

bool keeps(std::string_view key) { return key.starts_with("node.koordinator.sh/"); }

std::string why_invalid(std::uint32_t stage, std::string_view question) {
  const Result<CriQuestion> read = read_cri_question(stage, question, keeps);
  return read ? "it is valid" : read.error().message();
}

}  // namespace

TEST_CASE("a question of the proxy becomes a pod and a container; a value of zero is unset") {
  const Result<CriQuestion> read = read_cri_question(kCreation, kQuestion, keeps);
  REQUIRE_MESSAGE(read, read.error().message());
  CHECK(read->pod.name == "web-0");
  CHECK(read->pod.namespace_name == "shop");
  CHECK(read->pod.uid == "u1");
  CHECK(read->pod.id == "s1");
  CHECK(read->pod.runtime_handler == "kata");
  CHECK(read->pod.cgroup_parent == "/kubepods/podu1");
  CHECK(read->pod.labels == nri::TextMap{{"app", "web"}});
  CHECK(read->pod.annotations == nri::TextMap{{"node.koordinator.sh/extended-resource-spec", "{}"}});
  REQUIRE(read->container);
  CHECK(read->container->name == "main");
  CHECK(read->container->env == std::vector<std::string>{"A=1=2"});
  CHECK(read->container->resources == nri::Resources{.cpu_shares = 512, .cpus = "0-3", .memory_limit_bytes = 64 << 20});
}

TEST_CASE("a question about a pod has no container") {
  const Result<CriQuestion> read =
      read_cri_question(kPod, R"({"pod": {"name": "a", "namespace": "b", "uid": "c"}, "container": 5})", keeps);
  REQUIRE(read);
  CHECK_FALSE(read->container);
}

TEST_CASE("an invalid question names the field and what is expected") {
  const std::string pod = R"("pod": {"name": "a", "namespace": "b", "uid": "c"})";
  const auto with = [&](const std::string& container) {
    return why_invalid(kCreation, "{" + pod + ", " + container + "}");
  };
  CHECK(why_invalid(kCreation, "").starts_with("not JSON"));
  CHECK(why_invalid(kCreation, "[]") == "the document: expected a mapping, found a list");
  CHECK(why_invalid(kCreation, "{}") == "pod: expected a mapping");
  CHECK(why_invalid(kCreation, R"({"pod": {"name": "a", "namespace": "b"}})") ==
        "pod.uid: expected a text that is not empty");
  CHECK(why_invalid(kCreation, R"({"pod": {"name": 5}})") == "pod.name: expected text, found a number");
  CHECK(why_invalid(kCreation, "{" + pod + "}") == "container: expected a mapping");
  CHECK(why_invalid(kPod, R"({"stage": "PreCreateContainer"})") ==
        "stage: expected 'PreRunPodSandbox', as in the path");
  CHECK(with(R"("container": {"name": "m", "env": {}})") == "container.env: expected a list, found a mapping");
  CHECK(with(R"("container": {"name": "m", "env": [{"value": "1"}]})") ==
        "container.env[0].name: expected a text that is not empty");
  CHECK(with(R"("container": {"name": "m", "resources": {"linux.cpu.shares": "many"}})")
            .starts_with("container.resources.linux.cpu.shares: "));
  CHECK(with(R"("container": {"name": "m", "resources": {"linux.cpu.shares": "-5"}})") ==
        "container.resources.linux.cpu.shares: '-5' is negative");
  CHECK(with(R"("container": {"name": "m", "resources": {"linux.cpu.shares": 512}})") ==
        "container.resources.linux.cpu.shares: expected text, found a number");
}

TEST_CASE("a question that is too large or too deep is refused") {
  CHECK(why_invalid(kCreation, std::string(kMostQuestionBytes + 1, ' ')) != "it is valid");
  CHECK(why_invalid(kCreation, std::string(100'000, '[')) != "it is valid");
}

TEST_CASE("an unknown stage names those at which hooks are asked") {
  CHECK(parse_cri_stage("PreCreateContainer").value_or(0) == kCreation);
  CHECK(
      parse_cri_stage("PostStopContainer").error().message() ==
      "'PostStopContainer' is not a stage at which hooks are asked, expected one of PreRunPodSandbox, PreCreateContainer, "
      "PreUpdateContainerResources");
}

TEST_CASE("an answer has the composed values, and the fields that are no resource as the hook has set them") {
  const host::HookVerdict verdict{.settings = {{"linux.cpu.shares", "345", "a"},
                                               {"linux.memory.limit", "1048576", "a"},
                                               {"env:A", "say \"2\"", "a"},
                                               {"linux.oom_score_adj", "500", "a"}},
                                  .scales = {{"linux.cpu.quota", 0.8, "b"}}};
  CHECK(cri_answer(verdict, {.cpu_quota_us = 50000, .cpu_period_us = 100000}, false) ==
        R"({"fields":{"linux.cpu.quota":"40000","linux.cpu.shares":"345","linux.memory.limit":"1048576",)"
        R"("linux.memory.swap":"-1","env:A":"say \"2\"","linux.oom_score_adj":"500"}})");
  CHECK(cri_answer({}, {.cpu_shares = 512}, false) == "{}");
  CHECK(cri_rejection("hook-gpu: \x1b no device") == "{\"rejection\":\"hook-gpu: \\u001b no device\"}");
}
