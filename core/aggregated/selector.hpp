// SPDX-License-Identifier: Apache-2.0
// Selector: selects the objects of a list or watch by labelSelector and fieldSelector. A plain value. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/aggregated/object.hpp"
#include "core/base/result.hpp"

namespace koord::aggregated {

struct LabelTerm {
  enum class Kind : std::uint8_t { in, not_in, exists, not_exists, greater, less };

  std::string key;
  Kind kind = Kind::exists;
  std::set<std::string, std::less<>> values = {};  // several for in and not_in; one number for greater and less

  bool matches(const Labels& labels) const;
};

class Selector {
 public:
  // Parses texts in the form of a query. Empty texts select all objects.
  static Result<Selector> parse(std::string_view labels, std::string_view fields);

  bool matches(const Object& object) const { return matches_name(object.name()) && matches(object.labels()); }
  bool matches_name(std::string_view name) const;
  bool matches(const Labels& labels) const;
  // Returns the only name that can match; nullopt: more than one name may match.
  const std::optional<std::string>& name() const { return name_; }

 private:
  Result<void> take_field(std::string_view term);

  std::vector<LabelTerm> terms_;
  std::optional<std::string> name_;
  std::vector<std::string> other_names_;  // excluded names
  bool is_contradictory_ = false;
};

// Parses a label selector in kubectl's form: "a=b,c in (d,e),!f".
Result<std::vector<LabelTerm>> parse_label_selector(std::string_view text);

}  // namespace koord::aggregated
