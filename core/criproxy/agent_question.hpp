// SPDX-License-Identifier: Apache-2.0
// The request and response bodies of POST /api/v1/hooks/STAGE (README.md, "The question to the agent"). Pure. [any
// thread]
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

// The answer of a hook. A `rejection` that is not empty refuses the call.
struct HookAnswer {
  std::string rejection;
  Changes changes;
};

// The agent refuses longer questions. Kubernetes accepts at most 256 KiB of annotations for a pod.
inline constexpr std::size_t kMostQuestionBytes = 2u << 20;

// Returns the question. It contains no values of environment variables, because hooks do not get them.
std::string agent_request(std::string_view stage, const wire::Checkpoint& about);

// Returns "container main of shop/web-0". Texts from the kubelet are cut.
std::string title_of(const wire::Checkpoint& about);

// Reads an answer. A field with an invalid value makes the whole answer invalid. Fields that CRI does not have are
// skipped, because the agent writes them after the creation.
Result<HookAnswer> read_agent_answer(std::string_view json);

}  // namespace koord::criproxy
