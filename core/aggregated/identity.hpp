// SPDX-License-Identifier: Apache-2.0
// Identity: the authenticated client of a request. Made by the code that authenticates; this library only reads it. A
// plain value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace koord::aggregated {

struct Identity {
  std::string user, uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>, std::less<>> extra;  // keys in lower case
};

inline constexpr std::string_view kNodeNameExtra = "authentication.kubernetes.io/node-name";
inline constexpr std::string_view kNodeUserPrefix = "system:node:";

// The node to which the client is bound: by its token's node name, or as user system:node:NAME. nullopt: to none.
std::optional<std::string_view> node_of(const Identity& identity);

}  // namespace koord::aggregated
