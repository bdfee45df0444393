// SPDX-License-Identifier: Apache-2.0
#include "core/config/overrides.hpp"

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/parse.hpp"
#include "core/config/yaml.hpp"

namespace koord::config {
namespace {

// An override has no lines: whatever is wrong in it is wrong at "--set a.b=c".
void place_all(Node& node, const Place& place) {
  node.place = place;
  for (Node& item : node.items) place_all(item, place);
  for (Entry& entry : node.entries) {
    entry.place = place;
    place_all(entry.value, place);
  }
}

Result<Node> read_value(std::string_view text, const Place& place, Report& report) {
  if (text.empty()) return Node{NodeKind::scalar, place, {}, true, {}, {}};
  Node value = TRY(read_yaml(text, *place.source, report));
  place_all(value, place);
  return value;
}

Node& enter(Node& mapping, const std::string& key, const Place& place) {
  mapping.kind = NodeKind::mapping;
  if (Entry* known = mapping.find(key)) {
    known->place = place;
    return known->value;
  }
  return mapping.entries.emplace_back(Entry{key, place, Node{NodeKind::null, place, {}, false, {}, {}}})
      .value;
}

bool is_path(std::string_view text) {
  return !text.empty() && !text.starts_with('.') && !text.ends_with('.') && text.find("..") == text.npos;
}

}  // namespace

void apply_override(Node& root, const std::string& text, Report& report) {
  const Place place{std::make_shared<const std::string>("--set " + text)};
  const std::size_t equals = text.find('=');
  const std::string_view path = std::string_view(text).substr(0, equals);
  if (equals == std::string::npos || !is_path(path)) return report.add(place, "expected 'key.key=value'");
  const std::vector<std::string> keys = split(path, '.');
  if (keys.size() > kMaxYamlDepth) return report.add(place, "the key has too many parts");
  Result<Node> value = read_value(std::string_view(text).substr(equals + 1), place, report);
  if (!value) return report.add(value.error());
  Node* target = &root;
  for (const std::string& key : keys) {
    if (target->kind != NodeKind::mapping && target->kind != NodeKind::null)
      return report.add(place,
                        "'" + key + "' is set inside " + describe(*target) + ", expected a mapping there");
    target = &enter(*target, key, place);
  }
  *target = *std::move(value);
}

}  // namespace koord::config
