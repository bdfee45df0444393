// SPDX-License-Identifier: Apache-2.0
#include "core/host/hook_paths.hpp"

#include <algorithm>
#include <climits>
#include <optional>

#include "core/base/parse.hpp"
#include "core/base/utf8.hpp"

namespace koord::host {
namespace {

constexpr std::string_view kDeviceFolder = "/dev/";
// The kernel's dev_t has 12 bits for the major number and 20 for the minor one.
constexpr std::uint64_t kMostMajor = (1u << 12) - 1, kMostMinor = (1u << 20) - 1;
constexpr std::uint32_t kMostMode = 0777;
constexpr std::size_t kMostShown = 100;

bool is_plain_byte(char byte) { return static_cast<unsigned char>(byte) > ' ' && byte != '\x7f'; }

bool is_plain_component(std::string_view name) {
  return !name.empty() && name.size() <= NAME_MAX && name != "." && name != "..";
}

// Returns whether the path is absolute and normalized. The root "/" is not accepted.
bool is_plain_path(std::string_view path) {
  if (path.size() < 2 || path.size() >= PATH_MAX || path[0] != '/' || path.back() == '/') return false;
  if (!std::all_of(path.begin(), path.end(), is_plain_byte) || !is_valid_utf8(path)) return false;
  std::string_view rest = path.substr(1);
  while (auto name = next_field(rest, '/'))
    if (!is_plain_component(*name)) return false;
  return true;
}

std::string shown(std::string_view text) { return std::string(text.substr(0, kMostShown)); }

Error no_such_field(std::string_view field, const std::string& expected) {
  return invalid("a hook cannot set '" + shown(field) + "', expected " + expected +
                 " with an absolute path without '.', '..', double slashes and spaces");
}

Error bad_value(std::string_view field, std::string_view value, const std::string& expected) {
  return invalid(shown(field) + " is '" + shown(value) + "', expected " + expected);
}

std::optional<std::uint32_t> number_of(std::string_view text, std::uint64_t most) {
  const Result<std::uint64_t> number = parse_uint(text);
  if (!number || *number > most) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

std::optional<std::uint32_t> mode_of(std::string_view text) {
  if (text.empty() || text.size() > 4) return std::nullopt;
  std::uint32_t mode = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '7') return std::nullopt;
    mode = mode * 8 + static_cast<std::uint32_t>(digit - '0');
  }
  return mode <= kMostMode ? std::optional(mode) : std::nullopt;
}

// Parses "c MAJOR:MINOR" or "c MAJOR:MINOR MODE".
bool take_numbers(std::string_view value, HookDevice& device) {
  if (value.size() < 2 || (value[0] != 'c' && value[0] != 'b') || value[1] != ' ') return false;
  device.type = value[0];
  const std::string_view rest = value.substr(2);
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view numbers = rest.substr(0, end);
  const std::size_t colon = numbers.find(':');
  if (colon == std::string_view::npos) return false;
  const auto major = number_of(numbers.substr(0, colon), kMostMajor);
  const auto minor = number_of(numbers.substr(colon + 1), kMostMinor);
  const auto mode = end == rest.size() ? std::optional(device.mode) : mode_of(rest.substr(end + 1));
  if (!major || !minor || !mode) return false;
  device.major = *major;
  device.minor = *minor;
  device.mode = *mode;
  return true;
}

}  // namespace

Result<HookDevice> parse_hook_device(std::string_view field, std::string_view value) {
  const std::string_view path = field.substr(kDeviceField.size());
  if (!path.starts_with(kDeviceFolder) || !is_plain_path(path)) return no_such_field(field, "device:/dev/NAME");
  HookDevice device;
  device.path = path;
  if (take_numbers(value, device)) return device;
  return bad_value(field, value,
                   "\"c MAJOR:MINOR\" or \"b MAJOR:MINOR MODE\" with a major number up to 4095, a minor number up to "
                   "1048575 and an octal mode up to 0777");
}

Result<HookMount> parse_hook_mount(std::string_view field, std::string_view value) {
  const std::string_view target = field.substr(kMountField.size());
  if (!is_plain_path(target)) return no_such_field(field, "mount:/PATH");
  constexpr std::string_view kReadOnly = " ro";
  const bool is_read_only = value.ends_with(kReadOnly);
  const std::string_view source = is_read_only ? value.substr(0, value.size() - kReadOnly.size()) : value;
  if (source != "/" && !is_plain_path(source))
    return bad_value(field, value,
                     "an absolute path of the node without '.', '..', double slashes and spaces, or such a path "
                     "followed by \" ro\"");
  return HookMount{std::string(target), std::string(source), is_read_only};
}

}  // namespace koord::host
