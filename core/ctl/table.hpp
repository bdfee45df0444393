// SPDX-License-Identifier: Apache-2.0
// A text table for a terminal: a header line, left-aligned words, right-aligned numbers, two spaces between columns.
#pragma once

#include <string>
#include <vector>

namespace koord::ctl {

struct Column {
  std::string title;
  bool right = false;  // right-aligned, for numbers
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Adds a row with one cell per column. Missing cells are empty, surplus cells are dropped. Control characters and
  // invalid UTF-8 are replaced by '?'.
  void add(std::vector<std::string> cells);

  bool empty() const { return rows_.empty(); }

  // Returns lines of at most `max_width` columns (0: no limit), without blanks at the end.
  std::string render(std::size_t max_width = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace koord::ctl
