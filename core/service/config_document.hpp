// SPDX-License-Identifier: Apache-2.0
// ConfigDocument: a plugin's own part of the configuration as JSON, with typed look-ups by JSON pointer (RFC 6901).
// Immutable: [any thread].
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::service {

class ConfigDocument {
 public:
  // `json` must be an object; empty text means {}.
  static Result<std::shared_ptr<const ConfigDocument>> parse(std::string_view json);
  ~ConfigDocument();

  const std::string& text() const { return text_; }

  // Not there: std::errc::no_such_file_or_directory. Another type, or an invalid pointer: invalid_argument.
  Result<std::int64_t> integer(std::string_view pointer) const;
  Result<double> number(std::string_view pointer) const;  // an integer is one, too
  Result<bool> boolean(std::string_view pointer) const;
  Result<std::string_view> string(std::string_view pointer) const;

 private:
  struct Value;
  ConfigDocument(std::string text, std::unique_ptr<Value> value);

  std::string text_;
  std::unique_ptr<Value> value_;
};

}  // namespace koord::service
