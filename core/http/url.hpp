// SPDX-License-Identifier: Apache-2.0
// The target of a request, "/path?name=value", taken apart. Input comes from outside: everything is checked
// and bounded, nothing is guessed. [any thread]
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace koord::http {

// Query parameters, decoded, in the order they came.
class Query {
 public:
  using Parameter = std::pair<std::string, std::string>;

  Query() = default;
  explicit Query(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {}

  // The first value of the parameter.
  std::optional<std::string_view> get(std::string_view name) const;
  std::vector<std::string_view> get_all(std::string_view name) const;
  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  std::vector<Parameter> parameters_;
};

struct Target {
  std::string path;  // decoded, begins with "/"
  Query query;
};

inline constexpr std::size_t kMaxQueryParameters = 64;

Result<Query> parse_query(std::string_view text);
Result<Target> parse_target(std::string_view text);

}  // namespace koord::http
