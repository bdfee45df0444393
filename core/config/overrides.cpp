// SPDX-License-Identifier: Apache-2.0
#include "core/config/overrides.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/parse.hpp"
#include "core/config/plugin_id.hpp"
#include "core/config/schema.hpp"
#include "core/config/yaml.hpp"

namespace koord::config {
namespace {

// Sets the place of a value and all its parts. An override has no lines, so all its errors have the place "--set
// a.b=c".
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
  return mapping.entries.emplace_back(Entry{key, place, Node{NodeKind::null, place, {}, false, {}, {}}}).value;
}

// Removes the next part of a key, plain or in quotes, from the front of `rest` and returns it; "" at the end.
std::string take_part(std::string_view& rest) {
  const bool quoted = rest.starts_with('"');
  if (quoted) rest.remove_prefix(1);
  const std::size_t length = std::min(rest.find_first_of(quoted ? "\"" : ".=\""), rest.size());
  std::string part(rest.substr(0, length));
  rest.remove_prefix(length);
  if (!quoted) return part;
  if (rest.empty()) return {};
  rest.remove_prefix(1);
  return part;
}

struct Path {
  std::vector<std::string> keys;
  std::string_view value;
};

std::optional<Path> split_path(std::string_view text) {
  Path path;
  for (;;) {
    path.keys.push_back(take_part(text));
    if (path.keys.back().empty() || text.empty()) return std::nullopt;
    const char behind = text.front();
    text.remove_prefix(1);
    if (behind == '=') {
      path.value = text;
      return path;
    }
    if (behind != '.') return std::nullopt;
  }
}

bool is_plugin_key(const std::string& name) {
  const auto& schema = plugin_schema();
  return std::any_of(schema.begin(), schema.end(), [&](const auto& key) { return key.path == name; });
}

// Returns the quoted form as a hint for plugins.settings.com.example.x.period.
std::string with_quoted_id(const std::vector<std::string>& keys) {
  constexpr std::size_t kId = 2;
  if (keys.size() <= kId + 2 || keys[0] != "plugins" || keys[1] != "settings") return {};
  const auto setting = std::find_if(keys.begin() + kId + 1, keys.end(), is_plugin_key);
  if (setting == keys.begin() + kId + 1 || setting == keys.end()) return {};
  const std::string id = join({keys.begin() + kId, setting}, ".");
  return is_plugin_id(id) ? "plugins.settings." + quote_key(id) + "." + *setting : std::string();
}

}  // namespace

void apply_override(Node& root, const std::string& text, Report& report) {
  const Place place{std::make_shared<const std::string>("--set " + text)};
  const std::optional<Path> path = split_path(text);
  if (!path) return report.add(place, "expected 'key.key=value'");
  if (path->keys.size() > kMaxYamlDepth) return report.add(place, "the key has too many parts");
  if (const std::string meant = with_quoted_id(path->keys); !meant.empty())
    return report.add(place, "a plugin id with dots is expected in double quotes", ", did you mean '" + meant + "'?");
  Result<Node> value = read_value(path->value, place, report);
  if (!value) return report.add(value.error());
  Node* target = &root;
  for (const std::string& key : path->keys) {
    if (target->kind != NodeKind::mapping && target->kind != NodeKind::null)
      return report.add(place, "'" + key + "' is set inside " + describe(*target) + ", expected a mapping there");
    target = &enter(*target, key, place);
  }
  *target = *std::move(value);
}

std::string quote_key(const std::string& part) { return part.find('.') == part.npos ? part : '"' + part + '"'; }

}  // namespace koord::config
