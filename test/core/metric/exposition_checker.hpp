// SPDX-License-Identifier: Apache-2.0
// A strict reader of the Prometheus text format 0.0.4, written from its specification and sharing no code
// with the writer: a document is right only when every line is, and every family stands in one piece.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace koord::test {

struct Exposition {
  std::string error;                      // empty: the document is valid
  std::map<std::string, double> samples;  // by the text in front of the value
};

Exposition read_exposition(std::string_view text);

}  // namespace koord::test
