// SPDX-License-Identifier: Apache-2.0
// Proposer: the strategy that an intent or a request for an eviction comes from. Plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace koord::decision {

// A plugin may have several strategies; each has a plan of its own. So has each of its sessions, for one may still end
// when another has begun.
struct Proposer {
  std::string plugin;
  std::string name;  // of the class
  std::uint64_t session = 0;

  auto operator<=>(const Proposer&) const = default;
};

}  // namespace koord::decision
