// SPDX-License-Identifier: Apache-2.0
// A table of text for a terminal: a header line, left-aligned words, right-aligned numbers, two spaces between.
#pragma once

#include <string>
#include <vector>

namespace koord::ctl {

struct Column {
  std::string title;
  bool right = false;  // numbers are easier to compare so
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell a column; what is missing is empty, what is too much is left out. Control characters and invalid UTF-8
  // become '?'.
  void add(std::vector<std::string> cells);

  bool empty() const { return rows_.empty(); }

  // Lines of at most `max_width` columns; 0 = as wide as it gets. No blanks at the ends of lines.
  std::string render(std::size_t max_width = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace koord::ctl
