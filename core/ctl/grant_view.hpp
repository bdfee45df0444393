// SPDX-License-Identifier: Apache-2.0
// The services of the host that a plugin gets, by its manifest and its kinds, and the access that each gives; the
// settings that a third party's plugin of its kinds needs; and its grants by plugins.settings.ID, as an agent reports
// them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ctl/json_view.hpp"
#include "core/load/manifest.hpp"

namespace koord::ctl {

struct GrantedService {
  std::string id;             // "koord.fs/1"
  std::string_view named_as;  // "required", "optional"; "kind": not named, and given to each plugin of its kind
  std::string kind;           // that kind, "advisor"
  std::string allows;
};

// Those that the manifest requires first, then its optional ones, then those of its kinds.
std::vector<GrantedService> granted_services_of(const load::Manifest& manifest);

// One sentence; "unknown to this version" for a service that is not in the table.
std::string_view service_allows(std::string_view id);

std::string grants_table(const load::Manifest& manifest);
json::array grants_json(const load::Manifest& manifest);

// A setting of plugins.settings.ID without which a third party's plugin of this kind cannot work.
struct NeededSetting {
  std::string setting;  // "network: [tcp]"
  std::string allows;
};
// Those of an external advisor, one for each kind of endpoint: the manifest does not say which kinds it has.
std::vector<NeededSetting> needed_settings_of(const load::Manifest& manifest);
// Begins with an empty line; empty for a plugin without such settings.
std::string needed_settings_table(const load::Manifest& manifest);
json::array needed_settings_json(const load::Manifest& manifest);

// `grants`: of a plugin in /api/v1/plugins. "capabilities CAP_BPF; network tcp, udp; files proc/*/io"; empty: it has
// none.
std::string granted_text(const json::value& grants);

// The grants of one plugin on this node.
struct GrantedHere {
  std::string text;                         // granted_text(), "nothing", or why they are unknown
  json::value grants = nullptr;             // null: unknown
  json::value minimum_isolation = nullptr;  // plugins.minimumIsolation, a list; null: unknown
};
// `answer`: the agent's, to /api/v1/plugins.
GrantedHere granted_here(const Result<std::string>& answer, std::string_view id);

}  // namespace koord::ctl
