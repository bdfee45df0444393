// SPDX-License-Identifier: Apache-2.0
// A YAML document as a tree of plain values, each with the place it was written at. The schema reads it,
// overrides are merged into it, a plugin's part is turned into JSON. Inside core/config only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace koord::config {

// Where a value was written: a file, or an override; line and column count from 1, line 0 = the source as a
// whole.
struct Place {
  std::shared_ptr<const std::string> source;
  int line = 0;
  int column = 0;

  std::string text() const;  // "koordetector.yaml:3:1"
};

enum class NodeKind : std::uint8_t { null, scalar, sequence, mapping };

struct Entry;

struct Node {
  NodeKind kind = NodeKind::null;
  Place place;
  std::string text;            // of a scalar
  bool quoted = false;         // a scalar that is a string whatever it looks like
  std::vector<Node> items;     // of a sequence
  std::vector<Entry> entries;  // of a mapping, in the order written, no key twice

  const Entry* find(std::string_view key) const;
  Entry* find(std::string_view key);
};

struct Entry {
  std::string key;
  Place place;
  Node value;
};

// For an error: "a mapping", "a sequence", "the string 'x'", "'x'", "nothing".
std::string describe(const Node& node);

}  // namespace koord::config
