// SPDX-License-Identifier: Apache-2.0
// The bodies of POST /api/v1/hooks/STAGE (README.md, "The question to the agent"). Pure. [any thread]
#pragma once

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

std::string agent_request(std::string_view stage, const wire::Checkpoint& about);

// Fails for anything but an answer. A field with an invalid value makes the whole answer invalid; fields that CRI does
// not have are skipped: the agent writes them after the creation.
Result<HookAnswer> read_agent_answer(std::string_view json);

}  // namespace koord::criproxy
