// SPDX-License-Identifier: Apache-2.0
// The content of a directory, from its files' status alone: nothing is opened.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/external-textfile/external_textfile.hpp"

namespace koord::external_textfile {

// Lists the entries that is_ours() accepts. An entry that vanishes meanwhile is left out.
Result<std::vector<File>> files_in(const std::string& directory);

}  // namespace koord::external_textfile
