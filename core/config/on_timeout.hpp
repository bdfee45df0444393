// SPDX-License-Identifier: Apache-2.0
// The default of onTimeout. [any thread]
#pragma once

#include <string_view>

#include "core/config/config.hpp"

namespace koord::config {

// `fail` for hooks of which a container needs the fields at its creation: nothing sets these later.
OnTimeout default_on_timeout(std::string_view plugin_id);

}  // namespace koord::config
