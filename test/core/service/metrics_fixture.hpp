// SPDX-License-Identifier: Apache-2.0
// The metrics service of a fake host, and helper functions to define, append and query.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "test/core/service/service_fixture.hpp"

namespace koord::test {

struct MetricsOnHost : OnHost<koord_svc_metrics> {
  MetricsOnHost() : OnHost("koord.metrics/1") {}

  koord_metric_desc desc(std::string_view name, std::uint32_t type = KOORD_GAUGE) const {
    return {
        sizeof(koord_metric_desc), type, KOORD_METRIC_EXPORT, 0, str(name), str("cores"), str("Help."), 1e-4, nullptr};
  }
  std::uint32_t define(const koord_metric_desc& desc) {
    std::uint32_t metric = 0;
    REQUIRE(service->define(abi, &desc, &metric) == KOORD_OK);
    return metric;
  }
  std::uint64_t series(std::uint32_t metric, std::uint64_t subject = KOORD_NO_SUBJECT,
                       std::vector<koord_label> labels = {}) {
    std::uint64_t series = 0;
    REQUIRE(service->series(abi, metric, subject, labels.data(), static_cast<std::uint32_t>(labels.size()),
                            sizeof(koord_label), &series) == KOORD_OK);
    return series;
  }
  std::uint64_t now() { return to_ns(host.clock().now()); }
  koord_status append(std::vector<koord_point> points) {
    return service->append(abi, now(), points.data(), static_cast<std::uint32_t>(points.size()), sizeof(koord_point));
  }
  koord_query query(std::string_view metric, std::uint32_t aggregation = KOORD_AGG_LAST) {
    koord_query query = {};
    query.struct_size = sizeof query;
    query.aggregation = aggregation;
    query.metric = str(metric);
    query.from_ns = now() - 60'000'000'000;
    return query;
  }
  std::vector<koord_agg_row> rows(const koord_query& query) {
    std::vector<koord_agg_row> rows(16);
    std::uint32_t need = 0;
    REQUIRE(service->aggregate(abi, &query, rows.data(), 16, sizeof(koord_agg_row), &need) == KOORD_OK);
    rows.resize(need);
    return rows;
  }
  // Publishes a running pod with one container. The Hub assigns the handles.
  void publish_pod(std::string uid = "u1") {
    state::Pod pod;
    pod.uid = pod.name = uid;
    pod.namespace_ = "default";
    state::Container container;
    container.id = "containerd://" + uid;
    container.name = "main";
    pod.containers.push_back(container);
    state::Update update;
    update.pods = std::vector{pod};
    host.hub().publish(std::move(update));
  }
  const state::Pod& pod() { return host.hub().current()->pods.at(0); }
};

}  // namespace koord::test
