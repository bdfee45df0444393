// SPDX-License-Identifier: Apache-2.0
// Where a plugin is to live: in this process or in a child. The host's own plugins live here unless the configuration
// says otherwise, those of others in a child; so does, whatever anybody says, one that brings a runtime of its own,
// since that takes signals and threads of the process over. Pure. [any thread]
#pragma once

#include "core/base/result.hpp"
#include "core/config/config.hpp"
#include "core/host/manifest.hpp"

namespace koord::host {

// An error: the configuration wants what the plugin's runtime cannot have.
Result<bool> lives_in_child(const Manifest& manifest, Origin origin, config::Isolation wanted);

}  // namespace koord::host
