// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace koord::slo {

// Rejected values, one line each: "PATH: found 130, expected an integer from 0 to 100".
using Problems = std::vector<std::string>;

}  // namespace koord::slo
