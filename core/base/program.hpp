// SPDX-License-Identifier: Apache-2.0
// Where the running program itself lies. [any thread]
#pragma once

#include <string>

namespace koord {

// Without a slash at the end; empty where /proc is not mounted.
std::string directory_of_program();

}  // namespace koord
