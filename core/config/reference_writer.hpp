// SPDX-License-Identifier: Apache-2.0
// Writes the reference of a schema as YAML. Inside core/config only.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace koord::config {

// Writes keys as nested mappings, a section's name before its first key.
class ReferenceWriter {
 public:
  void add(std::string_view path, const std::string& type, std::string_view default_value, std::string_view help);

  // An example that an operator may uncomment.
  void add_example(std::string_view path, const std::string& type, std::string_view default_value,
                   std::string_view help);

  void line(const std::string& text) { text_ += std::string(2 * section_.size(), ' ') + text + "\n"; }

  std::string take() { return std::move(text_); }

 private:
  void enter_section(const std::vector<std::string>& section);

  std::vector<std::string> section_;
  std::string text_;
};

}  // namespace koord::config
