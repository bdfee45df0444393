// SPDX-License-Identifier: Apache-2.0
// Classes of a network interface's outgoing traffic, as the knob tc.classes spells them. Pure functions. [any thread]
//
//   1=125000000:125000000:0;2=100000000:125000000:1;4=12500000:25000000:3
//
// MINOR=RATE:CEIL:PRIORITY. The class 1 is the parent of all others; the class 2 has the packets that no filter names.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/knob/knob.hpp"

namespace koord::knob {

// The major number of the classes that the host makes. A root queueing discipline with it is one of the host.
// net_cls.classid of a cgroup is this number × 65536 + the minor.
inline constexpr std::uint32_t kTrafficMajor = 0x6b6f;
inline constexpr std::uint16_t kTrafficRoot = 1, kTrafficDefault = 2;

struct TrafficClass {
  std::uint64_t rate = 0, ceil = 0;  // bytes a second: granted, and at most
  std::uint32_t priority = 0;        // 0 … 7, the smallest first

  bool operator==(const TrafficClass&) const = default;
};

using TrafficClasses = std::map<std::uint16_t, TrafficClass>;  // by minor number

// As proposed: with the classes 1 and 2.
Result<Value> parse_traffic(const Knob& knob, std::string_view text);
// As the host reads it from the kernel or the journal: "" is an interface without classes of the host.
Result<Value> decode_traffic(std::string_view text);
std::string spell_traffic(const Value& value);

// The same as classes. `value` is one of the above.
TrafficClasses traffic_of(const Value& value);
Value value_of(const TrafficClasses& classes);

}  // namespace koord::knob
