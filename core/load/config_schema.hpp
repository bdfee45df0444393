// SPDX-License-Identifier: Apache-2.0
// Checks a plugin's part of the configuration against the JSON Schema (draft 7) that its class carries,
// before the plugin sees it. The error names the JSON pointer of each value that is wrong. [any thread]
#pragma once

#include <string_view>

#include "core/base/result.hpp"

namespace koord::load {

// An empty schema allows anything. One that could take this process down is refused before it is compiled: see
// schema_check.hpp.
Result<void> check_config(std::string_view schema, std::string_view config_json);

// The same for a third party's schema, in a process of its own for at most 1 s, with 64 MiB more than this one has.
Result<void> check_config_in_child(std::string_view schema, std::string_view config_json);

}  // namespace koord::load
