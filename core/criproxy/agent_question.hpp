// SPDX-License-Identifier: Apache-2.0
// The bodies of POST /api/v1/hooks/STAGE (README.md, "The question to the agent"). Pure. [any thread]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/criproxy/changes.hpp"

namespace koord::criproxy {

namespace wire {
class Checkpoint;
}

// The answer of a hook. It refuses the call if `rejection` is not empty.
struct HookAnswer {
  std::string rejection;
  Changes changes;
};

// The agent refuses a longer question. Kubernetes takes at most 256 KiB of annotations for a pod.
inline constexpr std::size_t kMostQuestionBytes = 2u << 20;

// Without the values of environment variables: hooks do not get them.
std::string agent_request(std::string_view stage, const wire::Checkpoint& about);

// "container main of shop/web-0"; texts of the kubelet, cut.
std::string title_of(const wire::Checkpoint& about);

// Fails for anything but an answer. A field with an invalid value makes the whole answer invalid; fields that CRI does
// not have are skipped: the agent writes them after the creation.
Result<HookAnswer> read_agent_answer(std::string_view json);

}  // namespace koord::criproxy
