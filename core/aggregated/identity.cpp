// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/identity.hpp"

namespace koord::aggregated {

std::optional<std::string_view> node_of(const Identity& identity) {
  // Several values are not accepted, because the client could choose one.
  if (const auto extra = identity.extra.find(kNodeNameExtra); extra != identity.extra.end())
    return extra->second.size() == 1 ? std::string_view(extra->second.front()) : std::string_view();
  if (identity.user.starts_with(kNodeUserPrefix)) return std::string_view(identity.user).substr(kNodeUserPrefix.size());
  return std::nullopt;
}

}  // namespace koord::aggregated
