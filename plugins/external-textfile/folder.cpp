// SPDX-License-Identifier: Apache-2.0
#include "plugins/external-textfile/folder.hpp"

#include <sys/stat.h>

#include "core/base/file.hpp"

namespace koord::external_textfile {

Result<std::vector<File>> files_in(const std::string& directory) {
  std::vector<File> files;
  const std::vector<std::string> names = TRY(list_directory(directory));
  for (const std::string& name : names) {
    if (!is_ours(name)) continue;
    struct stat status;
    if (::lstat((directory + "/" + name).c_str(), &status) != 0) continue;
    files.push_back({name, status.st_mtim.tv_sec * 1'000'000'000ll + status.st_mtim.tv_nsec, S_ISREG(status.st_mode)});
  }
  return files;
}

}  // namespace koord::external_textfile
