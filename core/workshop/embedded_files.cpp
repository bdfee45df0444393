// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/embedded_files.hpp"

#include "core/http/gzip.hpp"

namespace koord::workshop {

Result<std::vector<EmbeddedFile>> embedded_files() {
  const EmbeddedArchive& archive = embedded_archive();
  std::size_t size = 0;
  for (const EmbeddedArchive::Entry& entry : archive.entries) size += entry.size;
  const std::string text = TRY(http::gunzip(archive.gzip, size));
  if (text.size() != size) return invalid("the program's own files are damaged");
  std::vector<EmbeddedFile> files;
  std::size_t at = 0;
  for (const EmbeddedArchive::Entry& entry : archive.entries) {
    files.push_back({entry.path, text.substr(at, entry.size), entry.executable});
    at += entry.size;
  }
  return files;
}

}  // namespace koord::workshop
