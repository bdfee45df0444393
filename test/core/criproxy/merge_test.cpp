// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/merge.hpp"

#include <doctest/doctest.h>

#include "core/criproxy/cri.pb.h"

using namespace koord::criproxy;

namespace {

using Texts = std::map<std::string, std::string>;

wire::ContainerConfig container_with_env(const std::vector<std::pair<std::string, std::string>>& envs) {
  wire::ContainerConfig container;
  for (const auto& [key, value] : envs) {
    wire::KeyValue& env = *container.add_envs();
    env.set_key(key);
    env.set_value(value);
  }
  return container;
}

std::vector<std::string> env_of(const wire::ContainerConfig& container) {
  std::vector<std::string> lines;
  for (const wire::KeyValue& env : container.envs()) lines.push_back(env.key() + "=" + env.value());
  return lines;
}

Texts sorted(const google::protobuf::Map<std::string, std::string>& texts) { return {texts.begin(), texts.end()}; }

wire::ContainerHookRequest sent_to_hook_server() {
  wire::ContainerHookRequest request;
  request.mutable_container_resources()->set_cpu_shares(512);
  request.mutable_container_resources()->set_oom_score_adj(-5);
  request.mutable_container_resources()->set_cpuset_cpus("0-3");
  (*request.mutable_container_envs())["A"] = "1";
  return request;
}

}  // namespace

TEST_CASE("a variable that exists gets its value in place, others are appended, and duplicates stay") {
  wire::ContainerConfig container = container_with_env({{"A", "1"}, {"B", "2"}, {"A", "3"}, {"Z", "4"}});
  merge(Changes{.envs = {{"A", "9"}, {"NEW", "8"}}}, container);
  CHECK(env_of(container) == std::vector<std::string>{"A=1", "B=2", "A=9", "Z=4", "NEW=8"});
}

TEST_CASE("a limit of -1 is taken") {
  wire::Resources resources;
  resources.set_memory_limit(1000);
  resources.set_cpu_quota(5000);
  merge(ResourceChanges{.cpu_quota = -1, .memory_limit = -1, .memory_swap_limit = -1}, resources);
  CHECK(resources.memory_limit() == -1);
  CHECK(resources.memory_swap_limit() == -1);
  CHECK(resources.cpu_quota() == -1);
}

TEST_CASE("a hook that sets nothing keeps cpusets and oom_score_adj") {
  wire::Resources resources;
  resources.set_cpuset_cpus("0-3");
  resources.set_cpuset_mems("0");
  resources.set_oom_score_adj(-500);
  const std::string before = resources.SerializeAsString();
  merge(ResourceChanges{}, resources);
  CHECK(resources.SerializeAsString() == before);
}

TEST_CASE("a request without resources gets them if a hook sets one, and stays without if none does") {
  wire::ContainerConfig container;
  merge(Changes{.annotations = {{"a", "b"}}}, container);
  CHECK_FALSE(container.has_linux_part());
  merge(Changes{.resources = {.cpu_shares = 100}}, container);
  CHECK(container.linux_part().resources().cpu_shares() == 100);
}

TEST_CASE("labels, annotations and unified values are merged by key") {
  wire::ContainerConfig container;
  (*container.mutable_annotations())["kept"] = "1";
  (*container.mutable_annotations())["changed"] = "1";
  (*container.mutable_linux_part()->mutable_resources()->mutable_unified())["memory.low"] = "1";
  Changes changes{.labels = {{"l", "2"}}, .annotations = {{"changed", "2"}, {"new", "2"}}};
  changes.resources.unified = {{"memory.high", "2"}};
  merge(changes, container);
  CHECK(sorted(container.annotations()) == Texts{{"kept", "1"}, {"changed", "2"}, {"new", "2"}});
  CHECK(sorted(container.labels()) == Texts{{"l", "2"}});
  CHECK(sorted(container.linux_part().resources().unified()) == Texts{{"memory.low", "1"}, {"memory.high", "2"}});
}

TEST_CASE("a cgroup parent is replaced unless the change is empty, and resources of a pod are left alone") {
  wire::PodConfig pod;
  pod.mutable_linux_part()->set_cgroup_parent("/kubepods/pod1");
  merge(Changes{.cgroup_parent = "", .resources = {.cpu_shares = 5}}, pod);
  CHECK(pod.linux_part().cgroup_parent() == "/kubepods/pod1");
  CHECK_FALSE(pod.linux_part().has_resources());
  merge(Changes{.cgroup_parent = "/kubepods/besteffort/pod1"}, pod);
  CHECK(pod.linux_part().cgroup_parent() == "/kubepods/besteffort/pod1");
}

TEST_CASE("a mount or device with the same path is replaced, others are appended") {
  wire::ContainerConfig container;
  container.add_mounts()->set_container_path("/a");
  container.mutable_mounts(0)->set_host_path("/old");
  merge(Changes{.mounts = {{"/a", {"/new", true}}, {"/b", {"/other", false}}}, .devices = {{"/dev/x", "rwm"}}},
        container);
  REQUIRE(container.mounts_size() == 2);
  CHECK(container.mounts(0).host_path() == "/new");
  CHECK(container.mounts(0).readonly());
  CHECK(container.mounts(1).container_path() == "/b");
  CHECK(container.devices(0).host_path() == "/dev/x");
}

TEST_CASE("fields that are unknown here keep their bytes") {
  const std::string unknown("\xa2\x06\x03new", 6);  // field 100
  wire::ContainerConfig container;
  REQUIRE(container.ParseFromString(unknown));
  merge(Changes{.envs = {{"A", "1"}}}, container);
  CHECK(container.SerializeAsString().find(unknown) != std::string::npos);
}

TEST_CASE("text that is not UTF-8 passes") {
  wire::ContainerConfig container = container_with_env({{"A", "\xff\xfe"}});
  (*container.mutable_annotations())["\xff"] = "\xfe";
  wire::ContainerConfig again;
  REQUIRE(again.ParseFromString(container.SerializeAsString()));
  CHECK(env_of(again) == std::vector<std::string>{"A=\xff\xfe"});
}

TEST_CASE("an update replaces what it names in what is known") {
  wire::Resources known, update;
  known.set_cpu_shares(512);
  known.set_cpuset_cpus("0-3");
  known.set_memory_limit(1000);
  update.set_memory_limit(-1);
  update.set_cpu_quota(50000);
  merge_update(update, known);
  CHECK(known.cpu_shares() == 512);
  CHECK(known.cpuset_cpus() == "0-3");
  CHECK(known.memory_limit() == -1);
  CHECK(known.cpu_quota() == 50000);
}

TEST_CASE("a hook server that answers nothing changes nothing") {
  CHECK(changes_of(sent_to_hook_server(), wire::ContainerHookResponse{}).empty());
}

TEST_CASE("a hook server that echoes the request changes nothing") {
  const wire::ContainerHookRequest request = sent_to_hook_server();
  wire::ContainerHookResponse response;
  *response.mutable_container_resources() = request.container_resources();
  *response.mutable_container_envs() = request.container_envs();
  response.set_pod_cgroup_parent("/ignored");
  CHECK(changes_of(request, response).empty());
}

TEST_CASE("the difference between request and answer of a hook server is what it changes") {
  const wire::ContainerHookRequest request = sent_to_hook_server();
  wire::ContainerHookResponse response;
  response.mutable_container_resources()->set_cpu_shares(512);
  response.mutable_container_resources()->set_memory_limit(-1);
  response.mutable_container_resources()->set_cpuset_cpus("8-9");
  response.mutable_container_resources()->set_oom_score_adj(2000);  // an invalid score
  (*response.mutable_container_envs())["B"] = "2";
  const Changes changes = changes_of(request, response);
  CHECK(changes.resources == ResourceChanges{.memory_limit = -1, .cpuset_cpus = "8-9"});
  CHECK(changes.envs == std::vector<std::pair<std::string, std::string>>{{"B", "2"}});
}

TEST_CASE("a hook server can change labels, annotations and cgroup parent of a pod") {
  wire::PodHookRequest request;
  request.set_cgroup_parent("/a");
  (*request.mutable_labels())["same"] = "1";
  wire::PodHookResponse response;
  *response.mutable_labels() = request.labels();
  (*response.mutable_annotations())["new"] = "1";
  response.set_cgroup_parent("/b");
  CHECK(changes_of(request, response) == Changes{.annotations = {{"new", "1"}}, .cgroup_parent = "/b"});
}
