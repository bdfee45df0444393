// SPDX-License-Identifier: Apache-2.0
// Reads the content of a directory and the status of its files. Opens no file.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/external-textfile/external_textfile.hpp"

namespace koord::external_textfile {

// Returns the entries that is_ours() accepts. An entry that disappears meanwhile is left out.
Result<std::vector<File>> files_in(const std::string& directory);

}  // namespace koord::external_textfile
