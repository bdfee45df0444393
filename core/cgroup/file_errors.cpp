// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/file_errors.hpp"

#include <sys/stat.h>

#include <cerrno>

namespace koord::cgroup {

Error gone(const std::string& path) {
  return {std::make_error_code(std::errc::no_such_device), "the cgroup of '" + path + "' is gone"};
}

Error not_offered(const std::string& path) {
  return {std::make_error_code(std::errc::not_supported), "this kernel does not offer '" + path + "'"};
}

Error open_error(int error, const std::string& path) {
  if (error == ENODEV) return gone(path);
  if (error == ENOENT || error == ENOTDIR)
    return is_directory(path.substr(0, path.rfind('/'))) ? not_offered(path) : gone(path);
  if (error == EOPNOTSUPP) return not_offered(path);
  return system_error(error, "cannot open '" + path + "'");
}

Error read_error(const Error& error, const std::string& path) {
  if (error.is(std::errc::no_such_device)) return gone(path);
  return system_error(error.code.value(), "cannot read '" + path + "'");
}

bool is_out_of_descriptors(int error) { return error == EMFILE || error == ENFILE; }

bool is_directory(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace koord::cgroup
