// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/agent_question.hpp"

#include <doctest/doctest.h>

#include "core/criproxy/cri.pb.h"
#include "core/hook/cri_question.hpp"

using namespace koord;
using namespace koord::criproxy;

namespace {

wire::Checkpoint pod_of_shop() {
  wire::Checkpoint about;
  about.set_sandbox_id("s1");
  wire::PodConfig& pod = *about.mutable_pod();
  pod.mutable_metadata()->set_name("web-0");
  pod.mutable_metadata()->set_namespace_("shop");
  pod.mutable_metadata()->set_uid("u1");
  (*pod.mutable_labels())["app"] = "web";
  pod.mutable_linux_part()->set_cgroup_parent("/kubepods/podu1");
  return about;
}

const std::string kPodJson =
    R"("pod":{"name":"web-0","namespace":"shop","uid":"u1","sandboxId":"s1","runtimeHandler":"",)"
    R"("cgroupParent":"/kubepods/podu1","labels":{"app":"web"},"annotations":{}})";

}  // namespace

TEST_CASE("a question about a sandbox has the pod only") {
  CHECK(agent_request("PreRunPodSandbox", pod_of_shop()) == R"({"stage":"PreRunPodSandbox",)" + kPodJson + "}");
}

TEST_CASE("a question about a container has the names of its environment in order, and the resources that are set") {
  wire::Checkpoint about = pod_of_shop();
  about.mutable_container()->set_name("main");
  for (const char* name : {"Z", "A"}) {
    about.add_envs()->set_key(name);
    about.mutable_envs(about.envs_size() - 1)->set_value("1");
  }
  about.mutable_resources()->set_cpu_quota(-1);
  about.mutable_resources()->set_cpuset_cpus("0-1");
  CHECK(agent_request("PreCreateContainer", about) ==
        R"({"stage":"PreCreateContainer",)" + kPodJson +
            R"(,"container":{"name":"main","id":"","annotations":{},"env":[{"name":"Z"},)"
            R"({"name":"A"}],"resources":{"linux.cpu.quota":"-1","linux.cpuset.cpus":"0-1"}}})");
}

TEST_CASE("an answer has the fields of a hook, and those that CRI does not have are skipped") {
  const auto answer = read_agent_answer(R"({"fields":{"linux.cpu.shares":"345","linux.memory.limit":"-1",
    "linux.cpuset.cpus":"","env:B":"2","annotation:a/b":"c","mount:/in":"/out ro","device:/dev/x":"c 1:3 0666",
    "linux.cpu.idle":"1","linux.rdt.closid":"x"}})");
  REQUIRE(answer);
  const Changes expected{.annotations = {{"a/b", "c"}},
                         .resources = {.cpu_shares = 345, .memory_limit = -1, .cpuset_cpus = ""},
                         .envs = {{"B", "2"}},
                         .mounts = {{"/in", {"/out", true}}},
                         .devices = {{"/dev/x", "rwm"}}};
  CHECK(answer->changes == expected);
  CHECK(answer->rejection.empty());
}

TEST_CASE("an empty answer changes nothing, and a rejection has its text") {
  CHECK(read_agent_answer("{}")->changes.empty());
  CHECK(read_agent_answer(R"({"rejection":"no device is free"})")->rejection == "no device is free");
}

TEST_CASE("an answer with one wrong value is refused whole, and the field is named") {
  const std::pair<std::string, std::string> answers[] = {
      {"", "not JSON"},
      {"[]", "expected a mapping"},
      {R"({"fields":[]})", "fields"},
      {R"({"fields":{"linux.cpu.shares":5}})", "linux.cpu.shares"},
      {R"({"fields":{"linux.cpu.shares":"5x"}})", "linux.cpu.shares"},
      {R"({"fields":{"linux.cpu.shares":"99999999999999999999"}})", "linux.cpu.shares"},
      {R"({"fields":{"env:A=B":"x"}})", "env"},
      {R"({"fields":{"env:A":"x\u0000y"}})", "env"},
      {R"({"fields":{"mount:relative":"/x"}})", "mount"},
      {R"({"fields":{"device:/etc/shadow":"c 1:3"}})", "device"},
      {R"({"rejection":5})", "rejection"}};
  for (const auto& [text, expected] : answers) {
    const auto& shown = text;
    CAPTURE(shown);
    const auto answer = read_agent_answer(text);
    REQUIRE_FALSE(answer);
    CAPTURE(answer.error().text);
    CHECK(answer.error().text.find(expected) != std::string::npos);
  }
}

TEST_CASE("the agent takes each question that the proxy asks") {
  static_assert(kMostQuestionBytes == hook::kMostQuestionBytes);
  wire::Checkpoint about = pod_of_shop();
  about.mutable_container()->set_name("main");
  about.add_envs()->set_key("LARGE");
  about.mutable_envs(0)->set_value(std::string(4 << 20, 'x'));  // as large as with many ConfigMaps
  const auto question =
      hook::read_cri_question(KOORD_STAGE_PRE_CREATE_CONTAINER, agent_request("PreCreateContainer", about),
                              [](std::string_view) { return true; });
  REQUIRE(question);
  CHECK(question->container->env == std::vector<std::string>{"LARGE="});
}

TEST_CASE("a pod is named in one short line, whatever its names are") {
  wire::Checkpoint about = pod_of_shop();
  CHECK(title_of(about) == "pod shop/web-0");
  about.mutable_container()->set_name("a\nb");
  CHECK(title_of(about) == "container a?b of shop/web-0");
  about.mutable_container()->set_name(std::string(1 << 20, 'x'));
  CHECK(title_of(about).size() <= 512);
}
