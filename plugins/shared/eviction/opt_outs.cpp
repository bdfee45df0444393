// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/eviction/opt_outs.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <limits>

#include "core/base/parse.hpp"
#include "core/json/reader.hpp"

namespace koord::eviction {
namespace {

namespace json = boost::json;

std::optional<std::vector<std::string>> texts_of(std::string_view annotation) {
  const Result<json::value> document = read_json(annotation);
  if (!document || !document->is_array()) return std::nullopt;
  std::vector<std::string> texts;
  for (const json::value& item : document->get_array()) {
    if (!item.is_string()) return std::nullopt;
    texts.emplace_back(std::string_view(item.get_string()));
  }
  return texts;
}

}  // namespace

Policy::Policy(std::string_view annotation) : features_(texts_of(annotation)) {
  readable_ = features_.has_value();
  if (!features_) features_.emplace();
}

bool Policy::allows(std::string_view feature) const {
  return !features_ || std::find(features_->begin(), features_->end(), feature) != features_->end();
}

std::int32_t order_of(std::string_view annotation) {
  using Range = std::numeric_limits<std::int32_t>;
  const Result<std::int64_t> order = parse_int(annotation);
  return order && *order >= Range::min() && *order <= Range::max() ? static_cast<std::int32_t>(*order) : 0;
}

std::optional<std::int64_t> sub_priority_of(std::string_view label) {
  const Result<std::int64_t> priority = parse_int(label);
  return priority ? std::optional(*priority) : std::nullopt;
}

}  // namespace koord::eviction
