// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/patch.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/parse.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::aggregated {
namespace {

namespace json = boost::json;

json::string_view key_of(std::string_view text) { return {text.data(), text.size()}; }

std::string unescaped(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool is_escape = token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1');
    text += !is_escape ? token[i] : token[i + 1] == '0' ? '~' : '/';
    if (is_escape) ++i;
  }
  return text;
}

Error nested_too_deep() { return invalid("nested deeper than " + std::to_string(kMaxJsonDepth) + " levels"); }

Error beyond_limit(std::string text) { return {std::make_error_code(std::errc::value_too_large), std::move(text)}; }

Result<std::vector<std::string>> parse_pointer(std::string_view text) {
  std::vector<std::string> tokens;
  if (text.empty()) return tokens;
  if (!text.starts_with('/')) return invalid("pointer '" + std::string(text) + "' does not begin with '/'");
  if (static_cast<std::size_t>(std::count(text.begin(), text.end(), '/')) > kMaxJsonDepth) return nested_too_deep();
  std::size_t begin = 1;
  while (true) {
    const std::size_t end = text.find('/', begin);
    tokens.push_back(unescaped(text.substr(begin, end == text.npos ? end : end - begin)));
    if (end == text.npos) return tokens;
    begin = end + 1;
  }
}

Error missing_place(std::string_view token) { return not_found("'" + std::string(token) + "' does not exist"); }

Result<std::size_t> index_in(const json::array& items, std::string_view token, bool may_be_end) {
  if (may_be_end && token == "-") return items.size();
  if (token.empty() || (token.size() > 1 && token.front() == '0')) return missing_place(token);
  const auto index = parse_uint(token);
  if (!index || *index >= items.size() + (may_be_end ? 1 : 0)) return missing_place(token);
  return static_cast<std::size_t>(*index);
}

// Returns the child of `parent` that a token names.
Result<json::value*> child_of(json::value& parent, std::string_view token) {
  if (json::object* object = parent.if_object()) {
    json::value* member = object->if_contains(key_of(token));
    return member != nullptr ? Result<json::value*>(member) : missing_place(token);
  }
  json::array* items = parent.if_array();
  if (items == nullptr) return missing_place(token);
  const std::size_t index = TRY(index_in(*items, token, false));
  return &(*items)[index];
}

// Returns the value at the path of the first `count` tokens.
Result<json::value*> find(json::value& root, const std::vector<std::string>& tokens, std::size_t count) {
  json::value* at = &root;
  for (std::size_t i = 0; i < count; ++i) at = TRY(child_of(*at, tokens[i]));
  return at;
}

// Returns whether a value has at most this many nested lists and mappings. Does not read deeper levels.
bool fits_in(const json::value& value, std::size_t levels) {
  const auto fits_below = [&](const json::value& item) { return fits_in(item, levels - 1); };
  if (const json::array* items = value.if_array())
    return levels > 0 && std::all_of(items->begin(), items->end(), fits_below);
  if (const json::object* members = value.if_object())
    return levels > 0 && std::all_of(members->begin(), members->end(),
                                     [&](const auto& member) { return fits_below(member.value()); });
  return true;
}

// Checks the nesting depth. A value that is repeatedly copied into itself would double its depth each time.
Result<void> check_depth(const std::vector<std::string>& path, const json::value& value) {
  if (path.size() <= kMaxJsonDepth && fits_in(value, kMaxJsonDepth - path.size())) return {};
  return nested_too_deep();
}

std::size_t approximate_bytes(const json::value& value) {
  std::size_t bytes = sizeof value;
  if (const json::string* text = value.if_string()) bytes += text->size();
  if (const json::array* items = value.if_array())
    for (const json::value& item : *items) bytes += approximate_bytes(item);
  if (const json::object* members = value.if_object())
    for (const auto& member : *members) bytes += member.key().size() + approximate_bytes(member.value());
  return bytes;
}

class JsonPatch {
 public:
  explicit JsonPatch(json::value& root) : root_(root) {}

  Result<void> apply(const json::value& operation) {
    if (!operation.is_object()) return invalid("an operation is no mapping");
    const std::string name = json_text(operation, "op");
    const json::value* path_text = json_member(operation, "path");
    if (path_text == nullptr || !path_text->is_string()) return invalid("operation '" + name + "' has no path");
    const std::vector<std::string> path = TRY(parse_pointer(text_view(path_text->get_string())));
    if (name == "remove") {
      TRY(remove(path));
      return {};
    }
    if (name == "move" || name == "copy") return from(operation, path, name == "move");
    const json::value* value = json_member(operation, "value");
    if (value == nullptr) return invalid("operation '" + name + "' has no value");
    if (name == "add") return add(path, *value);
    json::value* at = TRY(find(root_, path, path.size()));
    if (name == "test")
      return *at == *value ? Result<void>() : invalid("testing value " + json_text(operation, "path") + " failed");
    if (name != "replace") return invalid("unknown operation '" + name + "'");
    TRY(check_depth(path, *value));
    *at = *value;
    return {};
  }

 private:
  Result<void> add(const std::vector<std::string>& tokens, json::value value) {
    TRY(check_depth(tokens, value));
    if (tokens.empty()) {
      root_ = std::move(value);
      return {};
    }
    json::value* parent = TRY(find(root_, tokens, tokens.size() - 1));
    if (json::object* object = parent->if_object()) {
      (*object)[key_of(tokens.back())] = std::move(value);
      return {};
    }
    json::array* items = parent->if_array();
    if (items == nullptr) return missing_place(tokens.back());
    const std::size_t index = TRY(index_in(*items, tokens.back(), true));
    TRY(note_moved((items->size() - index) * sizeof value));
    items->insert(items->begin() + index, std::move(value));
    return {};
  }

  Result<json::value> remove(const std::vector<std::string>& tokens) {
    if (tokens.empty()) return std::exchange(root_, nullptr);
    json::value* parent = TRY(find(root_, tokens, tokens.size() - 1));
    json::value* found = TRY(child_of(*parent, tokens.back()));
    json::value value = std::move(*found);
    if (json::object* object = parent->if_object()) {
      object->erase(key_of(tokens.back()));
    } else {
      json::array& items = parent->get_array();
      const auto index = found - items.data();
      TRY(note_moved((items.size() - static_cast<std::size_t>(index)) * sizeof value));
      items.erase(items.begin() + index);
    }
    return value;
  }

  Result<void> from(const json::value& operation, const std::vector<std::string>& path, bool moves) {
    const std::vector<std::string> source = TRY(parse_pointer(json_text(operation, "from")));
    if (moves) {
      const bool is_inside = path.size() > source.size() && std::equal(source.begin(), source.end(), path.begin());
      if (is_inside) return invalid("a value cannot move into itself");
      json::value value = TRY(remove(source));
      TRY(note_moved(approximate_bytes(value)));
      return add(path, std::move(value));
    }
    const json::value* value = TRY(find(root_, source, source.size()));
    const std::size_t bytes = approximate_bytes(*value);
    TRY(note_moved(bytes));
    copied_bytes_ += bytes;
    if (copied_bytes_ > kMaxCopiedMebibytes << 20)
      return beyond_limit("the operations of a JSON patch may copy at most " + std::to_string(kMaxCopiedMebibytes) +
                          " MiB together");
    return add(path, json::value(*value));
  }

  Result<void> note_moved(std::size_t bytes) {
    moved_bytes_ += bytes;
    if (moved_bytes_ <= kMaxMovedMebibytes << 20) return {};
    return beyond_limit("the operations of a JSON patch may move at most " + std::to_string(kMaxMovedMebibytes) +
                        " MiB together, entries of lists behind an inserted or removed one included");
  }

  json::value& root_;
  std::size_t copied_bytes_ = 0, moved_bytes_ = 0;
};

}  // namespace

void apply_merge_patch(json::value& target, const json::value& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = json::object();
  json::object& members = target.get_object();
  for (const auto& [key, value] : patch.get_object()) {
    if (value.is_null())
      members.erase(key);
    else
      apply_merge_patch(members[key], value);
  }
}

Result<void> apply_json_patch(json::value& target, const json::value& patch) {
  if (!patch.is_array()) return invalid("expected a list of operations, found " + std::string(json_type_name(patch)));
  const json::array& operations = patch.get_array();
  if (operations.size() > kMaxPatchOperations)
    return beyond_limit("a JSON patch may have at most " + std::to_string(kMaxPatchOperations) + " operations, found " +
                        std::to_string(operations.size()));
  JsonPatch applied(target);
  for (const json::value& operation : operations) TRY(applied.apply(operation));
  return {};
}

}  // namespace koord::aggregated
