// SPDX-License-Identifier: Apache-2.0
// JsonField: walks a JSON value with errors that say where: "items[3].spec.priority: expected an integer, found text".
// [any thread]
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace koord {

// Names as Go compares them when it decodes: except for the case of ASCII letters.
bool equal_but_case(std::string_view a, std::string_view b);

// A place in a document. A missing field is empty, and so is null; what a field may not be is an error.
class JsonField {
 public:
  explicit JsonField(const boost::json::value& root) : value_(&root) {}

  // `path`: where the root itself stands in what was received, "items[3]".
  JsonField(const boost::json::value& root, std::string path) : value_(&root), path_(std::move(path)) {}

  JsonField operator[](std::string_view key) const;
  // The member of this name, or else of one that differs in case only: as Go reads custom objects.
  JsonField any_case(std::string_view key) const;
  bool empty() const;  // missing or null
  bool is_false() const;
  bool is_text() const;
  const std::string& path() const { return path_; }
  Result<void> check_mapping() const;  // one, or empty

  Result<std::string> text() const;  // "" when empty
  Result<std::string> required_text() const;
  Result<std::int64_t> integer(std::int64_t fallback) const;
  Result<double> number() const;
  Result<bool> boolean() const;
  Result<std::map<std::string, std::string, std::less<>>> text_map() const;
  // One quantity, in the unit that Resource says for the name.
  Result<std::int64_t> quantity(std::string_view resource) const;
  // Kubernetes quantities, written as text or number, in the unit that Resource says for the name.
  Result<std::map<std::string, std::int64_t, std::less<>>> resources() const;
  // A list of more than `most` items is an error, and none of them is read.
  Result<std::vector<JsonField>> list(std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  Result<std::vector<std::pair<std::string, JsonField>>> members() const;

  // The field as JSON text.
  std::string json() const;

  Error wrong(std::string_view what) const;  // "path: text"

 private:
  JsonField(const boost::json::value* value, std::string path) : value_(value), path_(std::move(path)) {}

  Error wrong_type(std::string_view expected) const;

  const boost::json::value* value_;  // null: missing
  std::string path_;
};

}  // namespace koord
