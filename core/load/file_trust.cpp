// SPDX-License-Identifier: Apache-2.0
#include "core/load/file_trust.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace koord::load {
namespace {

std::string octal(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
  return text;
}

Result<std::string> resolve(const std::string& path) {
  if (!path.starts_with('/')) return invalid("expected an absolute path, found '" + path + "'");
  std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (real == nullptr) return system_error(errno, "cannot resolve '" + path + "'");
  return std::string(real.get());
}

Result<struct stat> stat_of(const std::string& path) {
  struct stat about;
  if (::lstat(path.c_str(), &about) != 0) return system_error(errno, "cannot stat '" + path + "'");
  return about;
}

std::string wanted_owner() { return ::geteuid() == 0 ? "uid 0" : "uid 0 or " + std::to_string(::geteuid()); }

Result<void> check_owner_and_mode(const std::string& path, const struct stat& about) {
  if (about.st_uid != 0 && about.st_uid != ::geteuid()) {
    return invalid("'" + path + "': expected owner " + wanted_owner() + ", found uid " + std::to_string(about.st_uid));
  }
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return invalid("'" + path + "': expected no write permission for group and others, found mode " +
                   octal(about.st_mode));
  }
  return {};
}

Result<void> check_ancestor(const std::string& path) {
  struct stat about = TRY(stat_of(path));
  if ((about.st_mode & S_ISVTX) != 0) about.st_mode &= ~static_cast<mode_t>(S_IWGRP | S_IWOTH);
  return check_owner_and_mode(path, about);
}

// Checks the directories above `path`, which is resolved.
Result<void> check_ancestors(const std::filesystem::path& path) {
  for (std::filesystem::path above = path; above.has_relative_path();) {
    above = above.parent_path();
    TRY(check_ancestor(above.string()));
  }
  return {};
}

}  // namespace

Result<std::string> check_trusted_directory(const std::string& directory) {
  std::string real = TRY(resolve(directory));
  struct stat about = TRY(stat_of(real));
  if (!S_ISDIR(about.st_mode)) return invalid("'" + real + "': expected a directory, found another kind of file");
  TRY(check_owner_and_mode(real, about));
  TRY(check_ancestors(real));
  return real;
}

Result<std::string> check_trusted_file(const std::string& path) {
  const std::string real = TRY(resolve(path));
  const std::string directory = TRY(check_trusted_directory(std::filesystem::path(real).parent_path().string()));
  return check_trusted_file(directory, real);
}

Result<std::string> check_trusted_file(const std::string& trusted_directory, const std::string& path) {
  std::string real = TRY(resolve(path));
  if (!real.starts_with(trusted_directory + "/")) {
    return invalid("'" + path + "': expected a file within '" + trusted_directory + "', found a link to '" + real +
                   "'");
  }
  struct stat about = TRY(stat_of(real));
  if (!S_ISREG(about.st_mode)) return invalid("'" + real + "': expected a regular file, found another kind of file");
  TRY(check_owner_and_mode(real, about));
  // A link in the trusted directory may lead to a deeper directory. The directories in between must not be writable by
  // others, even if they are sticky, because a change in them changes the code.
  for (auto above = std::filesystem::path(real).parent_path(); above != trusted_directory;
       above = above.parent_path()) {
    struct stat between = TRY(stat_of(above.string()));
    TRY(check_owner_and_mode(above.string(), between));
  }
  return real;
}

}  // namespace koord::load
