// SPDX-License-Identifier: Apache-2.0
// The running program itself. [any thread]
#pragma once

#include <string>

namespace koord {

// Without a slash at the end; empty where /proc is not mounted.
std::string directory_of_program();

// "koordctl/1.2.3": the name and the version of the program, for the header User-Agent.
std::string user_agent();

// Raises the soft limit of open files to the hard one.
void raise_file_limit();

}  // namespace koord
