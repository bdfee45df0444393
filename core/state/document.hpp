// SPDX-License-Identifier: Apache-2.0
// A Kubernetes object as text, YAML or JSON, read into one model, and a Field to walk it with errors that say
// where: "items[3].spec.priority: expected an integer, found a string". For the sources of this folder only.
// [any thread]
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/state/pod.hpp"

namespace koord::state {

inline constexpr std::size_t kMaxDocumentDepth = 64;

// Text that begins with '{' is JSON, all else YAML (a single document). Hostile text (deep, cyclic, or with
// references that unfold to more than a million values) is refused.
Result<boost::json::value> parse_document(std::string_view text);

// JSON only, as annotations and a ConfigMap's documents are.
Result<boost::json::value> parse_json(std::string_view text);

// Names as Go compares them when it decodes: but for the case of ASCII letters.
bool equal_but_case(std::string_view a, std::string_view b);

// A place in a document. A missing field is empty, and so is null; what a field may not be is an error.
class Field {
 public:
  explicit Field(const boost::json::value& root) : value_(&root) {}

  // `path`: where the root itself stands in what was received, "items[3]".
  Field(const boost::json::value& root, std::string path) : value_(&root), path_(std::move(path)) {}

  Field operator[](std::string_view key) const;
  // The member of this name, or else of one that differs in case only: as Go reads custom objects.
  Field any_case(std::string_view key) const;
  bool empty() const;  // missing or null

  Result<std::string> text() const;  // "" when empty
  Result<std::string> required_text() const;
  Result<std::int64_t> integer(std::int64_t fallback) const;
  Result<bool> boolean() const;
  Result<StringMap> text_map() const;
  // One quantity, in the unit that Resource says for the name.
  Result<std::int64_t> quantity(std::string_view resource) const;
  // Kubernetes quantities, written as text or number, in the unit that Resource says for the name.
  Result<std::map<std::string, std::int64_t, std::less<>>> resources() const;
  Result<std::vector<Field>> list() const;
  Result<std::vector<std::pair<std::string, Field>>> members() const;

  // The field as JSON text.
  std::string json() const;

  Error wrong(std::string_view what) const;  // "path: text"

 private:
  Field(const boost::json::value* value, std::string path) : value_(value), path_(std::move(path)) {}

  Error wrong_type(std::string_view expected) const;

  const boost::json::value* value_;  // null: missing
  std::string path_;
};

// An object without a kind, or of one of these.
Result<void> check_kind(const Field& object, std::initializer_list<std::string_view> expected);

}  // namespace koord::state
