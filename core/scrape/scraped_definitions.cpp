// SPDX-License-Identifier: Apache-2.0
#include "core/scrape/scraped_definitions.hpp"

#include <utility>

#include "core/base/utf8.hpp"
#include "core/metric/max_steps.hpp"

namespace koord::scrape {
namespace {

constexpr double kDoubleSteps = 4503599627370496.0;  // 2^52

metric::Type type_of(exposition::Kind kind) {
  switch (kind) {
    case exposition::Kind::counter:
      return metric::Type::counter;
    case exposition::Kind::histogram:
      return metric::Type::histogram;
    default:
      return metric::Type::gauge;
  }
}

std::string_view without_total(std::string_view name) {
  constexpr std::string_view kTotal = "_total";
  return name.ends_with(kTotal) ? name.substr(0, name.size() - kTotal.size()) : name;
}

std::string unit_of(const exposition::Metric& metric) {
  if (!metric.unit.empty()) return std::string(metric.unit);
  for (std::string_view unit : {"seconds", "bytes"}) {
    if (without_total(metric.name).ends_with(unit)) return std::string(unit);
  }
  return {};
}

}  // namespace

double scraped_resolution(std::string_view name, exposition::Kind kind, double largest) {
  name = without_total(name);
  double resolution = kind == exposition::Kind::counter ? 1e-3 : 1e-6;
  if (name.ends_with("seconds")) resolution = kind == exposition::Kind::gauge ? 1e-9 : 1e-6;
  if (name.ends_with("bytes")) resolution = 1;
  while (largest > resolution * kDoubleSteps) resolution *= 10;
  return resolution;
}

Result<const ScrapedDefinitions::Definition*> ScrapedDefinitions::define(const std::string& name,
                                                                         const exposition::Metric& metric,
                                                                         double largest,
                                                                         const exposition::Histogram* histogram) {
  if (auto known = known_.find(name); known != known_.end()) {
    if (known->second.kind == metric.kind) return &known->second;
    return invalid("metric '" + std::string(metric.name) + "': found another type than '" + name +
                   "' has, expected that");
  }
  TRY(service::check_metric_name(rights_, owner_, name));
  metric::Desc desc{.name = name,
                    .unit = unit_of(metric),
                    .help = std::string(metric.help),
                    .type = type_of(metric.kind),
                    .resolution = scraped_resolution(metric.name, metric.kind, largest),
                    .bounds = {}};
  if (histogram != nullptr) desc.bounds = histogram->bounds;
  cut_utf8(desc.help, metric::kMaxHelpBytes);
  cut_utf8(desc.unit, metric::kMaxUnitBytes);
  const std::uint32_t id = TRY(registry_.define(owner_, desc));
  return &known_.emplace(name, Definition{id, metric.kind, desc.resolution * metric::kMaxSteps, desc.bounds})
              .first->second;
}

}  // namespace koord::scrape
