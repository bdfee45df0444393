// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-oom-score-adj/oom_score_adj.hpp"

#include <boost/json.hpp>

#include "core/base/parse.hpp"
#include "core/json/reader.hpp"

namespace koord::oom_score {
namespace {

constexpr std::int64_t kLeast = -1000, kMost = 1000;  // the kernel's OOM_SCORE_ADJ_MIN and OOM_SCORE_ADJ_MAX
constexpr std::size_t kMostBytes = 256u << 10;        // Kubernetes' limit for all annotations of a pod

Adjustment ignored(std::string_view annotation, const std::string& what) {
  return {std::nullopt, std::string(annotation) + what + ", ignoring it"};
}

Adjustment in_range(std::string_view annotation, const std::string& found, std::optional<std::int64_t> score) {
  if (score && *score >= kLeast && *score <= kMost) return {score};
  return ignored(annotation, found + ", expected an integer from -1000 to 1000");
}

std::optional<std::int64_t> integer_of(const boost::json::value& value) {
  if (const std::int64_t* number = value.if_int64()) return *number;
  return std::nullopt;
}

}  // namespace

Adjustment adjust(std::string_view container, const Annotations& annotations) {
  if (annotations.spec) {
    const Result<boost::json::object> spec = read_json_object(*annotations.spec, kMostBytes);
    if (!spec) return ignored(kSpecAnnotation, ": " + spec.error().message());
    if (const boost::json::value* entry = spec->if_contains(container)) {
      const std::string found = ": container '" + std::string(container.substr(0, 100)) + "' has " +
                                boost::json::serialize(*entry).substr(0, 100);
      return in_range(kSpecAnnotation, found, integer_of(*entry));
    }
  }
  if (!annotations.all) return {};
  const Result<std::int64_t> score = parse_int(*annotations.all);
  return in_range(kAnnotation, " is '" + std::string(annotations.all->substr(0, 100)) + "'",
                  score ? std::optional(*score) : std::nullopt);
}

}  // namespace koord::oom_score
