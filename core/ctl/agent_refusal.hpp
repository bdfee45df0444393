// SPDX-License-Identifier: Apache-2.0
// Why an agent would refuse a plugin's file, from the file alone. No code of the file runs.
#pragma once

#include <string>

#include "core/load/manifest.hpp"

namespace koord::ctl {

// Returns one line: the owner or mode of the file or of a folder above it, the ABI, or a service. Empty: it would load
// the file.
std::string agent_refusal(const std::string& path, const load::Manifest& manifest);

}  // namespace koord::ctl
