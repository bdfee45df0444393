// SPDX-License-Identifier: Apache-2.0
// Formats the output of `koordctl hooks`: the connection to the container runtime, the questions of koord-cri-proxy,
// and a table of the hooks' answers.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace koord::ctl {

// `answer`: the agent's response.
Result<std::string> render_hooks(const std::string& answer);

}  // namespace koord::ctl
