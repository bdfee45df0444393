// SPDX-License-Identifier: Apache-2.0
// The kernel's capabilities by name, as capabilities(7) has them: "CAP_BPF". A set of them is a mask, bit n for the
// capability with number n. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord {

using CapabilityMask = std::uint64_t;

std::optional<CapabilityMask> linux_capability(std::string_view name);
// All that this build knows, by number.
const std::vector<std::string>& linux_capability_names();

// "CAP_BPF,CAP_PERFMON"; "" for none. Capabilities without a name here are left out.
std::string format_capabilities(CapabilityMask mask);
// The reverse; nullopt when one of them is not known.
std::optional<CapabilityMask> parse_capabilities(std::string_view text);

// The sets of the calling thread, by capget(2) and capset(2).
struct CapabilitySets {
  CapabilityMask effective = 0, permitted = 0, inheritable = 0;
};
Result<CapabilitySets> read_capability_sets();
Result<void> write_capability_sets(const CapabilitySets& sets);

}  // namespace koord
