// SPDX-License-Identifier: Apache-2.0
// Grants: which services of the host an instance of which kind may have. One table; get_service() returns NULL for all
// others. [any thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::load {

struct Manifest;

// The four kinds of plugin.
std::vector<std::string> known_kinds();
bool is_known_kind(std::string_view kind);

// Ids of the services that an instance of this kind is granted.
std::vector<std::string> granted_services(std::string_view kind);

// Every service that the plugin requires must be granted to one of its kinds. The error names the service, the kind
// that requires it, and the services offered instead.
Result<void> check_required_services(const Manifest& manifest);

}  // namespace koord::load
