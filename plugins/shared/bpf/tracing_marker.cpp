// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/bpf/tracing_marker.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::tracing {
namespace {

constexpr std::size_t kBootIdLength = 36;

Result<void> sync_directory(const std::string& directory) {
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return system_error(errno, "cannot bring '" + directory + "' to the disk");
  return {};
}

bool is_held(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0;
}

Error went_down(const MarkerOptions& options, const std::string& path, std::string_view boot_id) {
  return {std::make_error_code(std::errc::operation_not_permitted),
          "the machine went down (boot " + std::string(boot_id) + ") while " + options.owner +
              " was tracing; delete '" + path + "' or set rearm: true to trace again"};
}

// Reads an existing marker of this owner. A marker is complete before tracing begins, so an incomplete marker is
// ignored.
Result<void> examine(const MarkerOptions& options, const std::string& path) {
  auto content = read_file(path);
  if (!content)
    return content.error().is(std::errc::no_such_file_or_directory) ? Result<void>() : std::move(content).error();
  const std::string_view boot_id = trim(*content);
  const bool is_of_earlier_boot = boot_id.size() == kBootIdLength && boot_id != options.boot_id;
  if (is_of_earlier_boot && !options.rearm) return went_down(options, path, boot_id);
  if (!is_of_earlier_boot && is_held(path)) return {};  // a different running instance holds it
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_error(errno, "cannot remove '" + path + "'");
  return {};
}

Result<void> write_boot_id(int file, const std::string& path, const std::string& boot_id) {
  const bool written = ::flock(file, LOCK_EX | LOCK_NB) == 0 &&
                       ::write(file, boot_id.data(), boot_id.size()) == static_cast<ssize_t>(boot_id.size()) &&
                       ::fsync(file) == 0;
  return written ? Result<void>() : system_error(errno, "cannot write '" + path + "'");
}

}  // namespace

Result<TracingMarker> TracingMarker::set(const MarkerOptions& options) {
  if (options.boot_id.size() != kBootIdLength)
    return invalid("the boot id is '" + options.boot_id + "', expected " + std::to_string(kBootIdLength) +
                   " characters");
  std::error_code ignored;  // the list itself reports the error
  std::filesystem::create_directories(options.directory, ignored);
  const std::string prefix = options.owner + ".tracing-";
  for (const std::string& name : TRY(list_directory(options.directory)))
    if (name.starts_with(prefix)) TRY(examine(options, options.directory + "/" + name));
  std::string path = options.directory + "/" + prefix + "XXXXXX";
  UniqueFd file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file) return system_error(errno, "cannot make a marker in '" + options.directory + "'");
  TracingMarker marker(std::move(path), std::move(file));
  TRY(write_boot_id(marker.file_.get(), marker.path_, options.boot_id));
  TRY(sync_directory(options.directory));
  return marker;
}

TracingMarker& TracingMarker::operator=(TracingMarker&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  return *this;
}

TracingMarker::~TracingMarker() {
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  static_cast<void>(sync_directory(path_.substr(0, path_.rfind('/'))).has_value());
}

}  // namespace koord::tracing
