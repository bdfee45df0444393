// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/stage.hpp"

namespace koord::criproxy {
namespace {

struct CallStages {
  Method method;
  std::string_view name, before, after;
};

constexpr std::string_view kService = "/runtime.v1.RuntimeService/";
constexpr CallStages kHookedCalls[] = {
    {Method::run_pod, "RunPodSandbox", "PreRunPodSandbox", ""},
    {Method::stop_pod, "StopPodSandbox", "", "PostStopPodSandbox"},
    {Method::create, "CreateContainer", "PreCreateContainer", ""},
    {Method::start, "StartContainer", "PreStartContainer", "PostStartContainer"},
    {Method::update, "UpdateContainerResources", "PreUpdateContainerResources", ""},
    {Method::stop, "StopContainer", "", "PostStopContainer"},
    {Method::remove, "RemoveContainer", "", ""},
    {Method::remove_pod, "RemovePodSandbox", "", ""},
};

const CallStages& call_of(Method method) { return kHookedCalls[static_cast<int>(method)]; }

}  // namespace

std::optional<Method> hooked_method(std::string_view path) {
  if (!path.starts_with(kService)) return std::nullopt;
  path.remove_prefix(kService.size());
  for (const CallStages& call : kHookedCalls)
    if (call.name == path) return call.method;
  return std::nullopt;
}

std::string_view stage_before(Method method) { return call_of(method).before; }
std::string_view stage_after(Method method) { return call_of(method).after; }
bool is_pod_stage(std::string_view stage) { return stage.ends_with("PodSandbox"); }

}  // namespace koord::criproxy
