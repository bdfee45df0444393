// SPDX-License-Identifier: Apache-2.0
#include "core/config/reference_writer.hpp"

#include <cstddef>

#include "core/base/parse.hpp"

namespace koord::config {

void ReferenceWriter::add(std::string_view path, const std::string& type, std::string_view default_value,
                          std::string_view help) {
  const std::vector<std::string> parts = split(path, '.');
  enter_section({parts.begin(), parts.end() - 1});
  line("# " + std::string(help));
  line("# " + type);
  line(parts.back() + (default_value.empty() ? ":" : ": " + std::string(default_value)));
}

void ReferenceWriter::add_example(std::string_view path, const std::string& type, std::string_view default_value,
                                  std::string_view help) {
  const std::string value(default_value.empty() ? "" : " " + std::string(default_value));
  line("#     " + std::string(path) + ":" + value + "  # " + type + ". " + std::string(help));
}

void ReferenceWriter::enter_section(const std::vector<std::string>& section) {
  std::size_t shared = 0;
  while (shared < section.size() && shared < section_.size() && section[shared] == section_[shared]) ++shared;
  if (shared == 0 && !text_.empty()) text_ += "\n";
  section_.resize(shared);
  for (; shared < section.size(); ++shared) {
    line(section[shared] + ":");
    section_.push_back(section[shared]);
  }
}

}  // namespace koord::config
