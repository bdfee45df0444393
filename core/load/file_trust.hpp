// SPDX-License-Identifier: Apache-2.0
// Checks the owner of code before it runs. A plugin's file, and every directory on the way to it, must belong to root
// or to the user of this process and be writable by no other user; then no other user can change or swap it between
// check and use.
//
// Symbolic links are followed, and their targets are checked and loaded; one that leads out of the plugin directory is
// refused. So "libx.so → libx.so.1.2" works, and a link to a user's home directory does not. A directory above the
// plugin directory may be writable by all if it is sticky, as /tmp: there only the owner can rename its entries. [any
// thread]
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace koord::load {

// The plugin directory itself: absolute, existing, trusted up to the root. Its path with all links resolved.
Result<std::string> check_trusted_directory(const std::string& directory);

// A file anywhere: it and the directory it lies in are trusted up to the root. Its path with all links resolved.
Result<std::string> check_trusted_file(const std::string& path);

// A file of a directory that was checked. The path to load, with all links resolved.
Result<std::string> check_trusted_file(const std::string& trusted_directory, const std::string& path);

}  // namespace koord::load
