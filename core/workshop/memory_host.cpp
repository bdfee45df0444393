// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/memory_host.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/service/services.hpp"

namespace koord::workshop {
namespace {

std::unique_ptr<store::Store> open_in_memory(const Clock& clock) {
  Result<std::unique_ptr<store::Store>> opened = store::Store::open({}, clock);
  if (!opened) throw std::runtime_error(opened.error().message());
  return *std::move(opened);
}

// Returns the cgroup layout. A node without cgroups is valid, too.
cgroup::Layout layout_of(const NodeRoots& roots) { return cgroup::Layout::detect(roots).value_or(cgroup::Layout()); }

bool has_all(const metric::Labels& labels, const metric::Labels& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const auto& label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); });
}

}  // namespace

std::set<std::string> all_services() {
  std::set<std::string> ids;
  for (const service::OfferedService& service : service::offered_services()) ids.emplace(service.id);
  return ids;
}

MemoryHost::MemoryHost(const NodeRoots& roots, const Clock& clock, std::string node_name)
    : store_(open_in_memory(clock)),
      feed_(*store_),
      metrics_(std::move(node_name), &feed_),
      cgroups_(layout_of(roots), clock),
      services_{clock, roots, metrics_, feed_, hub_, cgroups_, capabilities_} {
  hub_.on_subject_end([this](std::uint64_t handle) {
    metrics_.end_subject(handle);
    services_.verdicts.end_all_about(services_.clock.now(), handle, "the pod or container has ended");
  });
}

MemoryHost::~MemoryHost() = default;

std::unique_ptr<service::PluginContext> MemoryHost::make_context(std::string plugin_id, std::set<std::string> granted,
                                                                 std::string config_json, service::Rights rights) {
  return std::make_unique<service::PluginContext>(services_, std::move(plugin_id), std::move(granted),
                                                  std::move(config_json), std::move(rights));
}

std::vector<MemoryHost::Series> MemoryHost::series(std::string_view metric) const {
  std::vector<Series> found;
  metrics_.for_each_series([&](const metric::SeriesView& view) {
    if (view.desc.name != metric || std::isnan(view.value)) return;
    metric::Labels labels = view.subject_labels;
    labels.insert(labels.end(), view.own_labels.begin(), view.own_labels.end());
    found.push_back({std::move(labels), view.value});
  });
  return found;
}

std::optional<double> MemoryHost::value(std::string_view metric, const metric::Labels& labels) const {
  std::optional<double> value;
  for (const Series& one : series(metric)) {
    if (!has_all(one.labels, labels)) continue;
    if (value) return std::nullopt;
    value = one.value;
  }
  return value;
}

}  // namespace koord::workshop
