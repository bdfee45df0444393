// SPDX-License-Identifier: Apache-2.0
// Collects all errors of a configuration, so that one run reports them all. Inside core/config only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/config/document.hpp"

namespace koord::config {

class Report {
 public:
  // `text` says what was found and what was expected; " at FILE:LINE:COL" is put behind it.
  void add(const Place& place, std::string text);

  // The same with something behind the place: ", did you mean 'nodeName'?".
  void add(const Place& place, std::string text, std::string_view hint);

  // An error that names its place itself.
  void add(const Error& error);

  bool empty() const { return problems_.empty(); }
  // Further errors are only counted, so callers can stop checking.
  bool full() const;

  // One line each, in the order of the file, then those of overrides.
  Error to_error() const;

 private:
  void add_line(const Place& place, std::string line);

  struct Problem {
    Place place;
    std::string line;
  };
  std::vector<Problem> problems_;
  std::size_t left_out_ = 0;
};

}  // namespace koord::config
