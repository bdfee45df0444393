// SPDX-License-Identifier: Apache-2.0
// A strict reader of the Prometheus text format 0.0.4, written from its specification. It shares no code with the
// writer. A document is valid only if every line is, and if the lines of every family follow each other.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace koord::test {

struct Exposition {
  std::string error;                      // empty: the document is valid
  std::map<std::string, double> samples;  // key: the text before the value
};

Exposition read_exposition(std::string_view text);

}  // namespace koord::test
