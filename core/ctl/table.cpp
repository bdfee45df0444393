// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/table.hpp"

#include <algorithm>

#include "core/base/utf8.hpp"

namespace koord::ctl {
namespace {

void append_cell(std::string& line, const std::string& cell, std::size_t width, bool right) {
  std::string blanks(width - utf8_count(cell), ' ');
  line += right ? blanks + cell : cell + blanks;
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) replace_control_characters(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::render(std::size_t max_width) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = utf8_count(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, utf8_count(row[i]));
    widths.push_back(width);
  }

  std::string text;
  auto add_line = [&](auto&& cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) line += "  ";
      append_cell(line, cell_of(i), widths[i], columns_[i].right);
    }
    if (max_width > 0) cut_utf8_characters(line, max_width);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](std::size_t i) { return columns_[i].title; });
  for (const auto& row : rows_) add_line([&](std::size_t i) { return row[i]; });
  return text;
}

}  // namespace koord::ctl
