// SPDX-License-Identifier: Apache-2.0
// Messages of koordlet's RuntimeHookService for hook servers, and the files that configure these servers. Pure. [any
// thread]
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/criproxy/changes.hpp"

namespace koord::criproxy {

namespace wire {
class Checkpoint;
}

// One file of hookserver.d.
struct HookServer {
  std::string name;    // the file's name
  std::string socket;  // a path
  bool fail = false;   // a call fails if the server does not answer
  std::set<std::string, std::less<>> stages;

  bool operator==(const HookServer&) const = default;
};

// Reads the content of the file `name`: {"remote-endpoint": "/run/x.sock", "failure-policy": "Fail" or "Ignore",
// "runtime-hooks": […]}.
Result<HookServer> read_hook_server(const std::string& name, std::string_view json);

// Returns for example "/runtime.v1alpha1.RuntimeHookService/PreCreateContainerHook".
std::string hook_method(std::string_view stage);
std::string hook_request(std::string_view stage, const wire::Checkpoint& about);
// Returns the differences between the request of `about` and the answer.
Result<Changes> read_hook_response(std::string_view stage, const wire::Checkpoint& about, const std::string& response);

}  // namespace koord::criproxy
