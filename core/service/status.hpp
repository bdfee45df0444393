// SPDX-License-Identifier: Apache-2.0
// Between the statuses of the plugin ABI and our errors. Pure functions. [any thread]
#pragma once

#include <string>
#include <system_error>

#include "core/base/result.hpp"
#include "koordetector/plugin.h"

namespace koord::service {

// An error that a plugin is to see as exactly this status.
Error refuse(koord_status status, std::string text);

// The plugin's status for an error: the one of refuse(), or the nearest to its errno.
koord_status status_of(const Error& error);

// The text for the plugin beside the status.
std::string why(const Error& error);

// "KOORD_E_GONE", or "status -42" for one that this host does not know.
std::string name_of_status(koord_status status);

}  // namespace koord::service
