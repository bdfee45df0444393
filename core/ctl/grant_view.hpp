// SPDX-License-Identifier: Apache-2.0
// The services of the host that a plugin gets, by its manifest and its kinds, and what each lets it do, in plain words. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ctl/json_view.hpp"
#include "core/host/manifest.hpp"

namespace koord::ctl {

struct GrantedService {
  std::string id;             // "koord.fs/1"
  std::string_view named_as;  // "required", "optional"; "kind": not named, and given to each plugin of its kind
  std::string allows;
};

// Those that the manifest requires first, then its optional ones, then those of its kinds.
std::vector<GrantedService> granted_services_of(const host::Manifest& manifest);

// One sentence; "unknown to this version" for a service that is not in the table.
std::string_view service_allows(std::string_view id);

std::string grants_table(const host::Manifest& manifest);
json::array grants_json(const host::Manifest& manifest);

}  // namespace koord::ctl
