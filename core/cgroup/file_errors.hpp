// SPDX-License-Identifier: Apache-2.0
// Errors of system calls on a cgroup's file: a cgroup that is gone, a file that this kernel does not have, or trouble.
// [any thread]
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace koord::cgroup {

Error gone(const std::string& path);         // std::errc::no_such_device
Error not_offered(const std::string& path);  // std::errc::not_supported

// Returns the error of the first open of a file: if missing in an existing directory, the kernel does not have it.
Error open_error(int error, const std::string& path);
Error read_error(const Error& error, const std::string& path);

bool is_out_of_descriptors(int error);
bool is_directory(const std::string& path);

}  // namespace koord::cgroup
