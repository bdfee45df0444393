// SPDX-License-Identifier: Apache-2.0
#include "core/base/result.hpp"

namespace koord {

// The category of the code distinguishes the two kinds of errors. An error of the operating system, or of a library
// with its own category, needs the description of its code. The text of an error with the generic category is complete,
// and its code is only for decisions.
std::string Error::message() const {
  if (!code) return text;
  if (text.empty()) return code.message();
  if (code.category() == std::generic_category()) return text;
  const std::string reason = code.message();
  return text.ends_with(reason) ? text : text + ": " + reason;
}

Error&& Error::context(std::string_view what) && {
  text = text.empty() ? std::string(what) : std::string(what) + ": " + text;
  return std::move(*this);
}

Error invalid(std::string text) { return Error{std::make_error_code(std::errc::invalid_argument), std::move(text)}; }

Error system_error(int error, std::string text) {
  return Error{std::error_code(error, std::system_category()), std::move(text)};
}

Error not_found(std::string text) {
  return Error{std::make_error_code(std::errc::no_such_file_or_directory), std::move(text)};
}

}  // namespace koord
