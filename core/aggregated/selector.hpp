// SPDX-License-Identifier: Apache-2.0
// Selector: the objects that a list or watch asks for, by labelSelector and fieldSelector. A plain value. [any thread]
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
  std::set<std::string, std::less<>> values = {};  // of in, not_in; one number of greater, less

  bool matches(const Labels& labels) const;
};

class Selector {
 public:
  // Texts as in a query; empty: all objects.
  static Result<Selector> parse(std::string_view labels, std::string_view fields);

  bool matches(const Object& object) const { return matches_name(object.name()) && matches(object.labels()); }
  bool matches_name(std::string_view name) const;
  bool matches(const Labels& labels) const;
  // The only name that can match; nullopt: any.
  const std::optional<std::string>& name() const { return name_; }

 private:
  Result<void> take_field(std::string_view term);

  std::vector<LabelTerm> terms_;
  std::optional<std::string> name_;
  std::vector<std::string> other_names_;  // these are left out
  bool is_contradictory_ = false;
};

// "a=b,c in (d,e),!f": as kubectl writes one.
Result<std::vector<LabelTerm>> parse_label_selector(std::string_view text);

}  // namespace koord::aggregated
