// SPDX-License-Identifier: Apache-2.0
// Formats the output of koordctl pods and koordctl node from the agent's responses. Pure.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.hpp"

namespace koord::ctl {

// Returns an age in short form: "12s", "5m", "3h", "40d"; "-": unknown.
std::string format_age(std::optional<double> seconds);

// Format the responses of /api/v1/pods and /api/v1/node.
Result<std::string> pods_text(const std::string& answer);
Result<std::string> node_text(const std::string& answer);

}  // namespace koord::ctl
