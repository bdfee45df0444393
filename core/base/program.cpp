// SPDX-License-Identifier: Apache-2.0
#include "core/base/program.hpp"

#include <filesystem>
#include <system_error>

namespace koord {

std::string directory_of_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

}  // namespace koord
