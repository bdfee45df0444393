// SPDX-License-Identifier: Apache-2.0
// Output of koordctl pods and koordctl node, from the agent's answers. Pure.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.hpp"

namespace koord::ctl {

// How long ago, as short as can be: "12s", "5m", "3h", "40d"; "-": not known.
std::string format_age(std::optional<double> seconds);

// From the answers of /api/v1/pods and /api/v1/node.
Result<std::string> pods_text(const std::string& answer);
Result<std::string> node_text(const std::string& answer);

}  // namespace koord::ctl
