// SPDX-License-Identifier: Apache-2.0
#include "core/base/program.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/base/version.hpp"

namespace koord {

std::string directory_of_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

std::string user_agent() {
  // The caller of execve() chooses the name. Only characters of a token may be in the header (RFC 9110, 5.6.2).
  std::string name = ::program_invocation_short_name;
  constexpr std::size_t kMaxName = 64;
  name.resize(std::min(name.size(), kMaxName));
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return c >= 0x80 || (!std::isalnum(c) && c != '-' && c != '_' && c != '.'); }, '-');
  return (name.empty() ? "koordetector" : name) + "/" + kVersion;
}

void raise_file_limit() {
  rlimit files;
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= files.rlim_max) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace koord
