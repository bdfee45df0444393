// SPDX-License-Identifier: Apache-2.0
#include "core/metric/definitions.hpp"

#include "core/metric/registry.hpp"

namespace koord::metric {
namespace {

// Returns the names at the start of a metric's lines. A histogram `x` and a gauge `x_count` cannot be in the same text.
std::vector<std::string> line_names(const Desc& desc) {
  if (desc.type != Type::histogram) return {desc.name};
  return {desc.name, desc.name + "_bucket", desc.name + "_count", desc.name + "_sum"};
}

std::size_t bytes_of(const Desc& desc) {
  return desc.name.size() + desc.unit.size() + desc.help.size() + desc.bounds.size() * kBoundBytes;
}

Error full(const Owner& owner, const std::string& what) {
  return Error{std::make_error_code(std::errc::no_buffer_space), "'" + owner.name + "' has " + what};
}

Result<void> check_quota(const Owner& owner, const Desc& desc) {
  if (owner.metrics >= kMaxMetrics)
    return full(owner, "defined " + std::to_string(kMaxMetrics) + " metrics, as many as it may");
  if (owner.definition_bytes + bytes_of(desc) > kMaxDefinitionBytes)
    return full(owner, "definitions of metrics with more than " + std::to_string(kMaxDefinitionBytes) +
                           " bytes of text and bounds");
  return {};
}

void leave(Owner& owner, const Desc& desc) {
  --owner.metrics;
  owner.definition_bytes -= bytes_of(desc);
}

}  // namespace

Owner* Definitions::find_owner(std::string_view name) const {
  auto found = owners_.find(name);
  return found == owners_.end() ? nullptr : found->second.get();
}

Owner& Definitions::owner(std::string_view name) {
  if (Owner* known = find_owner(name)) return *known;
  auto fresh = std::make_unique<Owner>(
      Owner{.name = std::string(name), .budget = kDefaultSeriesBudget, .stale_after = kDefaultStaleAfter});
  Owner& owner = *fresh;
  owners_.emplace(owner.name, std::move(fresh));
  return owner;
}

Result<std::uint32_t> Definitions::define(Owner& owner, const Desc& desc) {
  auto known = metrics_.find(desc.name);
  if (known != metrics_.end() && &known->second->owner == &owner && known->second->desc == desc)
    return known->second->id;
  TRY(check(desc));
  TRY(check_quota(owner, desc));
  Result<void> free = check_free(desc);
  if (!free) return std::move(free).error().context("'" + owner.name + "' cannot define metric '" + desc.name + "'");
  ++owner.metrics;
  owner.definition_bytes += bytes_of(desc);
  auto metric = std::make_unique<Metric>(next_id_++, desc, owner);
  for (std::string& name : line_names(desc)) line_names_.emplace(std::move(name), metric.get());
  by_id_.emplace(metric->id, metric.get());
  return metrics_.emplace(desc.name, std::move(metric)).first->second->id;
}

Result<void> Definitions::check_free(const Desc& desc) const {
  for (const std::string& name : line_names(desc)) {
    auto taken = line_names_.find(name);
    if (taken == line_names_.end()) continue;
    const Metric& holder = *taken->second;
    std::string what(to_string(holder.desc.type));
    return invalid("'" + holder.owner.name + "' has defined the " + what + " '" + holder.desc.name +
                   (name == holder.desc.name && name == desc.name ? "' otherwise" : "', which uses '" + name + "'"));
  }
  return {};
}

Metric* Definitions::in_the_way(const Owner& owner, const Desc& desc) const {
  for (const std::string& name : line_names(desc)) {
    auto taken = line_names_.find(name);
    if (taken == line_names_.end() || &taken->second->owner != &owner || taken->second->desc == desc) continue;
    return find(taken->second->id);
  }
  return nullptr;
}

Metric* Definitions::taken_by_other(const Owner& owner, const Desc& desc) const {
  for (const std::string& name : line_names(desc)) {
    auto taken = line_names_.find(name);
    if (taken != line_names_.end() && &taken->second->owner != &owner) return find(taken->second->id);
  }
  return nullptr;
}

void Definitions::forget(const Metric& metric) {
  leave(metric.owner, metric.desc);
  std::erase_if(line_names_, [&](const auto& entry) { return entry.second == &metric; });
  by_id_.erase(metric.id);
  metrics_.erase(metrics_.find(metric.desc.name));
}

Metric* Definitions::find(std::uint32_t id) const {
  auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

void Definitions::forget(const Owner& owner) {
  for (const auto& [name, metric] : metrics_)
    if (&metric->owner == &owner) leave(metric->owner, metric->desc);
  std::erase_if(line_names_, [&](const auto& entry) { return &entry.second->owner == &owner; });
  std::erase_if(by_id_, [&](const auto& entry) { return &entry.second->owner == &owner; });
  std::erase_if(metrics_, [&](const auto& entry) { return &entry.second->owner == &owner; });
}

}  // namespace koord::metric
