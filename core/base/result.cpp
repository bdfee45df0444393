// SPDX-License-Identifier: Apache-2.0
#include "core/base/result.hpp"

#include <cerrno>

namespace koord {

std::string Error::message() const {
  if (!code || code == std::errc::invalid_argument) return text;
  std::string reason = code.message();
  if (text.empty()) return reason;
  return text.ends_with(reason) ? text : text + ": " + reason;
}

Error&& Error::context(std::string_view what) && {
  text = text.empty() ? std::string(what) : std::string(what) + ": " + text;
  return std::move(*this);
}

Error invalid(std::string text) { return Error{std::make_error_code(std::errc::invalid_argument), std::move(text)}; }

Error system_error(int error, std::string text) {
  // message() handles EINVAL like the errors of invalid(), and would add no description. So the kernel's "Invalid
  // argument" is added here.
  if (error == EINVAL) text += ": " + std::generic_category().message(error);
  return Error{std::error_code(error, std::generic_category()), std::move(text)};
}

Error not_found(std::string text) {
  return Error{std::make_error_code(std::errc::no_such_file_or_directory), std::move(text)};
}

}  // namespace koord
