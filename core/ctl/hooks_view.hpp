// SPDX-License-Identifier: Apache-2.0
// Output of `koordctl hooks`: the connection to the container runtime, the questions of koord-cri-proxy, and a table of
// the hooks' answers.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace koord::ctl {

// Takes the agent's answer.
Result<std::string> render_hooks(const std::string& answer);

}  // namespace koord::ctl
