// SPDX-License-Identifier: Apache-2.0
// The calls of CRI that hooks are asked about, and their stages. All other calls pass as bytes. Pure. [any thread]
#pragma once

#include <optional>
#include <string_view>

namespace koord::criproxy {

enum class Method { run_pod, stop_pod, create, start, update, stop, remove, remove_pod };

// nullopt: the call passes as it is.
std::optional<Method> hooked_method(std::string_view path);

// The names of koordlet's stages: "PreCreateContainer". Empty: no hook before, or after, this call.
std::string_view stage_before(Method method);
std::string_view stage_after(Method method);

// The stages of sandboxes, as PreRunPodSandbox.
bool is_pod_stage(std::string_view stage);

}  // namespace koord::criproxy
