// SPDX-License-Identifier: Apache-2.0
// The resources of a container by the names of a hook's fields, as text. Pure. [any thread]
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/hook/nri/types.hpp"

namespace koord::hook {

inline constexpr std::array<std::string_view, 7> kResourceFields = {
    "linux.cpu.period",  "linux.cpu.quota",    "linux.cpu.shares", "linux.cpuset.cpus",
    "linux.cpuset.mems", "linux.memory.limit", "linux.memory.swap"};

// Empty: it is not set, or the field is none of these.
std::string resource_text(const nri::Resources& resources, std::string_view field);

// Zero is unset, as in requests of runtimes. Other fields than these are skipped. Fails for a text that is not a number
// where one is expected.
Result<void> set_resource(nri::Resources& resources, std::string_view field, const std::string& text);

}  // namespace koord::hook
