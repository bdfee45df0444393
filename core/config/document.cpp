// SPDX-License-Identifier: Apache-2.0
#include "core/config/document.hpp"

#include <algorithm>
#include <utility>

namespace koord::config {
namespace {

constexpr std::size_t kQuotedBytes = 64;  // the length of a quoted value in an error

std::string quote(std::string_view text) {
  if (text.size() <= kQuotedBytes) return "'" + std::string(text) + "'";
  return "'" + std::string(text.substr(0, kQuotedBytes)) + "…'";
}

}  // namespace

std::string Place::text() const {
  if (line == 0) return *source;
  return *source + ":" + std::to_string(line) + ":" + std::to_string(column);
}

const Entry* Node::find(std::string_view key) const {
  const auto entry = std::find_if(entries.begin(), entries.end(), [key](const Entry& e) { return e.key == key; });
  return entry == entries.end() ? nullptr : &*entry;
}

Entry* Node::find(std::string_view key) { return const_cast<Entry*>(std::as_const(*this).find(key)); }

std::string describe(const Node& node) {
  switch (node.kind) {
    case NodeKind::null:
      return "nothing";
    case NodeKind::sequence:
      return "a sequence";
    case NodeKind::mapping:
      return "a mapping";
    case NodeKind::scalar:
      break;
  }
  return node.quoted ? "the string " + quote(node.text) : quote(node.text);
}

}  // namespace koord::config
