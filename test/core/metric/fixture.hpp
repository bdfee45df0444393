// SPDX-License-Identifier: Apache-2.0
// Helper functions for the registry's tests.
#pragma once

#include <string>

#include "core/metric/registry.hpp"

namespace koord::test {

inline const Time kNow = from_ns(1'700'000'000'000'000'000);

inline metric::Desc gauge(std::string name) { return {.name = std::move(name), .unit = "1", .help = "A gauge."}; }

inline metric::Desc counter(std::string name) {
  return {.name = std::move(name), .unit = "1", .help = "A counter.", .type = metric::Type::counter};
}

inline metric::Desc histogram(std::string name) {
  return {.name = std::move(name),
          .unit = "s",
          .help = "A histogram.",
          .type = metric::Type::histogram,
          .resolution = 1e-6,
          .bounds = {0.5, 1}};
}

inline metric::Subject container(std::uint64_t handle, const std::string& id = "containerd://ab") {
  return {handle,
          {{"pod_namespace", "default"},
           {"pod_uid", "u1"},
           {"container_id", id},
           {"container_name", "web"},
           {"pod_name", "web-0"}}};
}

// Defines a series of the node with this value, for tests that need only one series.
inline metric::SeriesId set(metric::Registry& registry, const metric::Desc& desc, double value,
                            metric::Labels own = {}) {
  auto id = registry.series("p", *registry.define("p", desc), {}, std::move(own));
  metric::Point point{*id, value};
  (void)registry.record("p", kNow, {&point, 1});
  return *id;
}

inline Result<metric::RecordSummary> record(metric::Registry& registry, metric::SeriesId id, double value,
                                            Time time = kNow) {
  metric::Point point{id, value};
  return registry.record("p", time, {&point, 1});
}

inline std::string text(const metric::Registry& registry, Time now = kNow) {
  std::string out;
  registry.write_text(out, now);
  return out;
}

}  // namespace koord::test
