// SPDX-License-Identifier: Apache-2.0
// Numbers as both syntaxes write them. [any thread]
#pragma once

#include <optional>
#include <string_view>

namespace koord::exposition {

// "1.5e3", "+Inf", "nan" in any case. The whole text must be the number, and a double must be able to hold it.
std::optional<double> number_of(std::string_view text);

bool equal_ignoring_case(std::string_view text, std::string_view lower);

}  // namespace koord::exposition
