// SPDX-License-Identifier: Apache-2.0
// The calls of CRI at which hooks are asked, and their stages. All other calls pass as bytes. Pure. [any thread]
#pragma once

#include <optional>
#include <string_view>

namespace koord::criproxy {

enum class Method { run_pod, stop_pod, create, start, update, stop, remove, remove_pod };

// Returns nullopt if calls of this method pass unchanged.
std::optional<Method> hooked_method(std::string_view path);

// Return the name of koordlet's stage before or after the call, such as "PreCreateContainer"; "": no such stage.
std::string_view stage_before(Method method);
std::string_view stage_after(Method method);

// Returns whether it is a stage of sandboxes, such as PreRunPodSandbox.
bool is_pod_stage(std::string_view stage);

}  // namespace koord::criproxy
