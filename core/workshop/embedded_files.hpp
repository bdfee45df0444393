// SPDX-License-Identifier: Apache-2.0
// Files of plugin-api/ that this program carries, so that an author needs no more than koordctl: the templates of
// projects and what these are built with. [any thread]
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::workshop {

// As embed_files.py puts them into the program: one text after the other, compressed as one.
struct EmbeddedArchive {
  struct Entry {
    std::string_view path;  // below plugin-api/
    std::size_t size;       // of its text
    bool executable;
  };
  std::string_view gzip;
  std::span<const Entry> entries;  // by path
};
const EmbeddedArchive& embedded_archive();

struct EmbeddedFile {
  std::string_view path;
  std::string content;
  bool executable;
};

// Unpacks all files, by path.
Result<std::vector<EmbeddedFile>> embedded_files();

}  // namespace koord::workshop
