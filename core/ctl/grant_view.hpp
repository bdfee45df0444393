// SPDX-License-Identifier: Apache-2.0
// The services of the host that a plugin is granted by its manifest and its kinds, and the access that each provides;
// the settings that a third-party plugin of these kinds requires; and its grants by plugins.settings.ID, as an agent
// reports them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ctl/json_view.hpp"
#include "core/load/manifest.hpp"

namespace koord::ctl {

struct GrantedService {
  std::string id;             // "koord.fs/1"
  std::string_view named_as;  // "required", "optional"; "kind": not named, but granted to each plugin of its kind
  std::string kind;           // this kind, such as "advisor"
  std::string allows;
};

// Returns the services: first the required ones of the manifest, then its optional ones, then the services of its
// kinds.
std::vector<GrantedService> granted_services_of(const load::Manifest& manifest);

// Returns one sentence; "unknown to this version" for a service that is not in the table.
std::string_view service_allows(std::string_view id);

std::string grants_table(const load::Manifest& manifest);
json::array grants_json(const load::Manifest& manifest);

// A setting of plugins.settings.ID that a third-party plugin of this kind needs.
struct NeededSetting {
  std::string setting;  // "network: [tcp]"
  std::string allows;
};
// Returns the settings of an external advisor, one for each kind of endpoint, because the manifest does not state which
// kinds it uses.
std::vector<NeededSetting> needed_settings_of(const load::Manifest& manifest);
// Returns a table that begins with an empty line; "" for a plugin without such settings.
std::string needed_settings_table(const load::Manifest& manifest);
json::array needed_settings_json(const load::Manifest& manifest);

// Returns grants as text: "capabilities CAP_BPF; network tcp, udp; files proc/*/io"; "" if there are no grants.
// `grants`: the grants of a plugin in /api/v1/plugins.
std::string granted_text(const json::value& grants);

// The grants of one plugin on this node.
struct GrantedHere {
  std::string text;                         // granted_text(), "nothing", or why the grants are unknown
  json::value grants = nullptr;             // null: unknown
  json::value minimum_isolation = nullptr;  // plugins.minimumIsolation, a list; null: unknown
};
// `answer`: the agent's response to /api/v1/plugins.
GrantedHere granted_here(const Result<std::string>& answer, std::string_view id);

}  // namespace koord::ctl
