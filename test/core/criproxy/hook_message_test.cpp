// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/hook_message.hpp"

#include <doctest/doctest.h>

#include "core/criproxy/cri.pb.h"

using namespace koord;
using namespace koord::criproxy;

TEST_CASE("a file as koordlet writes it names a hook server") {
  const auto server =
      read_hook_server("koordlet.json", "{\n\t\"remote-endpoint\": \"/var/run/koordlet/koordlet.sock\",\n"
                                        "\t\"failure-policy\": \"Ignore\",\n\t\"runtime-hooks\": [\n"
                                        "\t\t\"PreRunPodSandbox\",\n\t\t\"PreCreateContainer\"\n\t]\n}");
  REQUIRE(server);
  CHECK(*server ==
        HookServer{
            "koordlet.json", "/var/run/koordlet/koordlet.sock", false, {"PreRunPodSandbox", "PreCreateContainer"}});
}

TEST_CASE("a missing policy is Ignore, and a socket may be written as a URL") {
  const auto server = read_hook_server("a.json", R"({"remote-endpoint":"unix:///run/a.sock"})");
  REQUIRE(server);
  CHECK(server->socket == "/run/a.sock");
  CHECK_FALSE(server->fail);
  CHECK(read_hook_server("a.json", R"({"remote-endpoint":"/a","failure-policy":"Fail"})")->fail);
}

TEST_CASE("a file that names no hook server is refused with the field") {
  const std::pair<std::string, std::string> files[] = {
      {"", "not JSON"},
      {"[]", "mapping"},
      {"{}", "remote-endpoint"},
      {R"({"remote-endpoint":5})", "remote-endpoint"},
      {R"({"remote-endpoint":"127.0.0.1:80"})", "remote-endpoint"},
      {R"({"remote-endpoint":"/a","failure-policy":"Never"})", "failure-policy"},
      {R"({"remote-endpoint":"/a","runtime-hooks":"PreCreateContainer"})", "runtime-hooks"},
      {R"({"remote-endpoint":"/a","runtime-hooks":[5]})", "runtime-hooks[0]"}};
  for (const auto& [text, expected] : files) {
    const auto& shown = text;
    CAPTURE(shown);
    const auto server = read_hook_server("a.json", text);
    REQUIRE_FALSE(server);
    CHECK(server.error().text.find(expected) != std::string::npos);
  }
}

TEST_CASE("each stage is a method of RuntimeHookService") {
  CHECK(hook_method("PreCreateContainer") == "/runtime.v1alpha1.RuntimeHookService/PreCreateContainerHook");
}

TEST_CASE("a question to a hook server has pod, container, resources and environment") {
  wire::Checkpoint about;
  about.mutable_pod()->mutable_linux_part()->set_cgroup_parent("/a");
  about.mutable_container()->set_name("main");
  about.mutable_resources()->set_cpu_shares(5);
  about.add_envs()->set_key("A");
  wire::ContainerHookRequest request;
  REQUIRE(request.ParseFromString(hook_request("PreCreateContainer", about)));
  CHECK(request.pod_cgroup_parent() == "/a");
  CHECK(request.container_meta().name() == "main");
  CHECK(request.container_resources().cpu_shares() == 5);
  CHECK(request.container_envs().count("A") == 1);
  wire::PodHookRequest pod;
  REQUIRE(pod.ParseFromString(hook_request("PreRunPodSandbox", about)));
  CHECK(pod.cgroup_parent() == "/a");
}

TEST_CASE("an answer that is not a message is an error") {
  CHECK_FALSE(read_hook_response("PreCreateContainer", {}, "\xff"));
  CHECK_FALSE(read_hook_response("PreRunPodSandbox", {}, "\xff"));
  CHECK(read_hook_response("PreRunPodSandbox", {}, "")->empty());
}
