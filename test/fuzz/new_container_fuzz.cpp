// SPDX-License-Identifier: Apache-2.0
// A new container as a runtime describes it, with any content: the annotation with its resources, which the pod's
// author writes, and its cgroup path. The path must stay below the root of the hierarchy.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/hook/creation.hpp"

using namespace koord;

static bool leaves_root(const std::string& path) {
  return path.starts_with('/') || ("/" + path + "/").find("/../") != std::string::npos;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  nri::Pod pod;
  pod.cgroup_parent = text;
  pod.annotations["node.koordinator.sh/extended-resource-spec"] = text;
  pod.annotations["koordetector.sh/hands-off"] = text;
  const state::Pod made = hook::pod_of(pod, {});
  if (leaves_root(made.cgroup_dir)) std::abort();
  host::HookVerdict verdict{.settings = {{"linux.cpu.shares", "2", "a"}}};
  hook::drop_hands_off(verdict, made);
  const state::Container container = hook::container_of({.name = "main", .cgroups_path = text}, made);
  if (leaves_root(container.cgroup_dir)) std::abort();
  return 0;
}
