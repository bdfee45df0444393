// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/hook_message.hpp"

#include "core/criproxy/cri.pb.h"
#include "core/criproxy/merge.hpp"
#include "core/criproxy/stage.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"

namespace koord::criproxy {
namespace {

constexpr std::string_view kUnixScheme = "unix://";

wire::PodHookRequest pod_question(const wire::Checkpoint& about) {
  wire::PodHookRequest request;
  const wire::PodConfig& pod = about.pod();
  *request.mutable_pod_meta() = pod.metadata();
  request.set_runtime_handler(about.runtime_handler());
  *request.mutable_labels() = pod.labels();
  *request.mutable_annotations() = pod.annotations();
  request.set_cgroup_parent(pod.linux_part().cgroup_parent());
  if (pod.linux_part().has_overhead()) *request.mutable_overhead() = pod.linux_part().overhead();
  if (pod.linux_part().has_resources()) *request.mutable_resources() = pod.linux_part().resources();
  return request;
}

wire::ContainerHookRequest container_question(const wire::Checkpoint& about) {
  wire::ContainerHookRequest request;
  const wire::PodConfig& pod = about.pod();
  *request.mutable_pod_meta() = pod.metadata();
  *request.mutable_container_meta() = about.container();
  *request.mutable_container_annotations() = about.annotations();
  *request.mutable_container_resources() = about.resources();
  if (pod.linux_part().has_resources()) *request.mutable_pod_resources() = pod.linux_part().resources();
  *request.mutable_pod_annotations() = pod.annotations();
  *request.mutable_pod_labels() = pod.labels();
  request.set_pod_cgroup_parent(pod.linux_part().cgroup_parent());
  for (const wire::KeyValue& env : about.envs()) (*request.mutable_container_envs())[env.key()] = env.value();
  return request;
}

}  // namespace

Result<HookServer> read_hook_server(const std::string& name, std::string_view json) {
  const boost::json::value root = TRY(read_json(json, 64 << 10));
  const JsonField file(root);
  TRY(file.check_mapping());
  HookServer server;
  server.name = name;
  server.socket = TRY(file["remote-endpoint"].required_text());
  if (server.socket.starts_with(kUnixScheme)) server.socket.erase(0, kUnixScheme.size());
  if (!server.socket.starts_with('/'))
    return file["remote-endpoint"].wrong("expected the path of a unix socket, found '" + server.socket + "'");
  const std::string policy = TRY(file["failure-policy"].text());
  if (policy != "Fail" && policy != "Ignore" && !policy.empty())
    return file["failure-policy"].wrong("expected Fail or Ignore, found '" + policy + "'");
  server.fail = policy == "Fail";
  const std::vector<JsonField> stages = TRY(file["runtime-hooks"].list());
  for (const JsonField& stage : stages) server.stages.insert(TRY(stage.text()));
  return server;
}

std::string hook_method(std::string_view stage) {
  return "/runtime.v1alpha1.RuntimeHookService/" + std::string(stage) + "Hook";
}

std::string hook_request(std::string_view stage, const wire::Checkpoint& about) {
  return is_pod_stage(stage) ? pod_question(about).SerializeAsString() : container_question(about).SerializeAsString();
}

Result<Changes> read_hook_response(std::string_view stage, const wire::Checkpoint& about, const std::string& response) {
  if (is_pod_stage(stage)) {
    wire::PodHookResponse answer;
    if (!answer.ParseFromString(response)) return invalid("the answer is not a PodSandboxHookResponse");
    return changes_of(pod_question(about), answer);
  }
  wire::ContainerHookResponse answer;
  if (!answer.ParseFromString(response)) return invalid("the answer is not a ContainerResourceHookResponse");
  return changes_of(container_question(about), answer);
}

}  // namespace koord::criproxy
