// SPDX-License-Identifier: Apache-2.0
#include "core/base/program.hpp"

#include <sys/resource.h>

#include <filesystem>
#include <system_error>

namespace koord {

std::string directory_of_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

void raise_file_limit() {
  rlimit files;
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= files.rlim_max) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace koord
