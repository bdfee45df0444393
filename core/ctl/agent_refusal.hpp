// SPDX-License-Identifier: Apache-2.0
// Finds out why an agent would refuse a plugin's file, from the file alone. No code of the file runs.
#pragma once

#include <string>

#include "core/load/manifest.hpp"

namespace koord::ctl {

// Returns the reason in one line: the owner or mode of the file or of a folder above it, its ABI, or a required
// service. Returns "" if an agent would load the file.
std::string agent_refusal(const std::string& path, const load::Manifest& manifest);

}  // namespace koord::ctl
