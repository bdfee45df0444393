// SPDX-License-Identifier: Apache-2.0
// Files of plugin-api/ that this program carries, so that an author needs no more than koordctl: the templates of
// projects and what these are built with. Constant; any thread.
#pragma once

#include <span>
#include <string_view>

namespace koord::workshop {

struct EmbeddedFile {
  std::string_view path;  // below plugin-api/
  std::string_view content;
  bool executable;
};

// By path.
std::span<const EmbeddedFile> embedded_files();

}  // namespace koord::workshop
