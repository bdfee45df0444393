// SPDX-License-Identifier: Apache-2.0
#include "core/config/node_builder.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/config/yaml.hpp"

namespace koord::config {
namespace {

constexpr std::string_view kStandardTag = "tag:yaml.org,2002:";
constexpr std::array<std::string_view, 7> kStandardTypes{"str", "int", "float", "bool", "null", "seq", "map"};

// Returns whether the tag is supported. "" and "?" mean no tag, "!" a quoted scalar.
bool is_supported(std::string_view tag) {
  if (tag.empty() || tag == "?" || tag == "!") return true;
  if (!tag.starts_with(kStandardTag)) return false;
  tag.remove_prefix(kStandardTag.size());
  return std::find(kStandardTypes.begin(), kStandardTypes.end(), tag) != kStandardTypes.end();
}

bool is_string_tag(std::string_view tag) {
  return tag == "!" || (tag.starts_with(kStandardTag) && tag.ends_with(":str"));
}

bool is_null(std::string_view plain) {
  return plain.empty() || plain == "~" || plain == "null" || plain == "Null" || plain == "NULL";
}

Node make_scalar(Place place, std::string text, bool quoted) {
  Node node;
  node.place = std::move(place);
  if (!quoted && is_null(text)) return node;
  node.kind = NodeKind::scalar;
  node.text = std::move(text);
  node.quoted = quoted;
  return node;
}

}  // namespace

Place NodeBuilder::place_of(const YAML::Mark& mark) const {
  return mark.is_null() ? Place{source_} : Place{source_, mark.line + 1, mark.column + 1};
}

void NodeBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (std::exchange(started_, true)) throw Refused{place_of(mark), "a second document begins, expected one only"};
}

void NodeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  add(make_scalar(place_of(mark), {}, false), anchor);
}

// Adds the value of an anchor. An anchor is stored when its value is complete, so a value cannot contain itself.
void NodeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto known = anchors_.find(anchor);
  if (known == anchors_.end()) throw Refused{place_of(mark), "an alias stands inside the value it stands for"};
  count(known->second);
  add(known->second, 0);
}

void NodeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  if (!is_supported(tag)) throw Refused{place_of(mark), "the tag '" + tag + "' is not supported"};
  add(make_scalar(place_of(mark), value, is_string_tag(tag)), anchor);
}

void NodeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                                  YAML::EmitterStyle::value) {
  open(NodeKind::sequence, mark, tag, anchor);
}

void NodeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value) {
  open(NodeKind::mapping, mark, tag, anchor);
}

void NodeBuilder::open(NodeKind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
  const Place place = place_of(mark);
  if (!is_supported(tag)) throw Refused{place, "the tag '" + tag + "' is not supported"};
  if (open_.size() == kMaxYamlDepth)
    throw Refused{place, "values are nested deeper than " + std::to_string(kMaxYamlDepth)};
  Open opened;
  opened.node.kind = kind;
  opened.node.place = place;
  opened.anchor = anchor;
  open_.push_back(std::move(opened));
}

void NodeBuilder::close() {
  Open closed = std::move(open_.back());
  open_.pop_back();
  add(std::move(closed.node), closed.anchor);
}

void NodeBuilder::add(Node node, YAML::anchor_t anchor) {
  if (++values_ > max_values_)
    throw Refused{node.place, "there are more than " + std::to_string(max_values_) + " values"};
  if (anchor != 0) {
    count(node);
    anchors_[anchor] = node;
  }
  if (open_.empty()) {
    root_ = std::move(node);
  } else if (open_.back().node.kind == NodeKind::sequence) {
    open_.back().node.items.push_back(std::move(node));
  } else {
    add_to_mapping(open_.back(), std::move(node));
  }
}

void NodeBuilder::add_to_mapping(Open& mapping, Node node) {
  if (!mapping.key) {
    if (node.kind != NodeKind::scalar) throw Refused{node.place, "a key is " + describe(node) + ", expected a name"};
    mapping.key = std::move(node);
    return;
  }
  const Node key = std::move(*mapping.key);
  mapping.key.reset();
  const auto [first, fresh] = mapping.seen.emplace(key.text, key.place);
  if (!fresh)
    report_.add(key.place, "duplicate key '" + key.text + "'", ", first at " + first->second.text());
  else
    mapping.node.entries.push_back({key.text, key.place, std::move(node)});
}

// Counts the values of a copy against the limit before it is made.
void NodeBuilder::count(const Node& node) {
  if (++values_ > max_values_)
    throw Refused{node.place, "aliases expand to more than " + std::to_string(max_values_) + " values"};
  for (const Node& item : node.items) count(item);
  for (const Entry& entry : node.entries) count(entry.value);
}

}  // namespace koord::config
