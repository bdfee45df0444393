// SPDX-License-Identifier: Apache-2.0
// Identity: the authenticated client of a request. The authentication code creates it; this library only reads it. A
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

// Returns the node that the client is bound to, by the node name in its token or as user system:node:NAME. Returns
// nullopt if it is bound to no node.
std::optional<std::string_view> node_of(const Identity& identity);

}  // namespace koord::aggregated
