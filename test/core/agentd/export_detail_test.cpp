// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/export_detail.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace koord;
using config::Detail;

namespace {

metric::Exported of(Detail detail, const std::string& name, metric::Type type = metric::Type::gauge) {
  metric::Desc desc;
  desc.name = name;
  desc.type = type;
  return agentd::exported(detail, desc);
}

constexpr auto kHistogram = metric::Type::histogram;

}  // namespace

TEST_CASE("level node has the node's series only") {
  const metric::Exported exported = of(Detail::node, "anything");
  CHECK(exported.node);
  CHECK_FALSE(exported.pods);
  CHECK_FALSE(exported.containers);
}

TEST_CASE("level pod has series and histograms of pods, and no series of containers") {
  CHECK(of(Detail::pod, "pod_sched_latency_seconds", kHistogram).pods);
  CHECK_FALSE(of(Detail::pod, "container_cpu_usage").containers);
}

TEST_CASE("level container has gauges and counters of containers, and histograms of pods and node only") {
  CHECK(of(Detail::container, "container_cpu_usage").containers);
  CHECK(of(Detail::container, "container_sched_latency_p99_seconds").containers);
  CHECK_FALSE(of(Detail::container, "container_sched_latency_seconds", kHistogram).containers);
  CHECK(of(Detail::container, "pod_sched_latency_seconds", kHistogram).pods);
  CHECK(of(Detail::container, "node_sched_latency_seconds", kHistogram).node);
}

TEST_CASE("details of pods and containers are only at level all") {
  CHECK_FALSE(of(Detail::container, "container_psi").containers);
  CHECK_FALSE(of(Detail::container, "container_network_receive_bytes_total").containers);
  CHECK_FALSE(of(Detail::container, "pod_psi").pods);
  CHECK_FALSE(of(Detail::pod, "pod_psi").pods);
  for (const char* name : {"container_psi", "pod_psi", "container_network_receive_bytes_total"})
    CHECK(of(Detail::all, name) == metric::Exported());
  CHECK(of(Detail::all, "container_sched_latency_seconds", kHistogram) == metric::Exported());
}

TEST_CASE("a third party's gauges and counters of containers are at level container") {
  CHECK(of(Detail::container, "acme_requests_total", metric::Type::counter).containers);
  CHECK_FALSE(of(Detail::container, "acme_seconds", kHistogram).containers);
}

TEST_CASE("a verdict that is not active has a series only at level all") {
  const metric::Exported exported = of(Detail::container, "container_interference");
  CHECK(exported.has(metric::SubjectKind::container, 1));
  CHECK_FALSE(exported.has(metric::SubjectKind::container, 0));
  CHECK(of(Detail::all, "container_interference").has(metric::SubjectKind::container, 0));
  CHECK(of(Detail::container, "container_oom_kills_total").has(metric::SubjectKind::container, 0));
}

TEST_CASE("the host's families of each plugin are below level all those of alerts and dashboards, and failures") {
  using metric::HostExported;
  for (const Detail detail : {Detail::node, Detail::pod, Detail::container}) {
    for (const char* family : {"plugin_failed", "plugin_restarts_total", "plugin_cpu_cores", "host_state_age_seconds"})
      CHECK(agentd::host_exported(detail, family) == HostExported::always);
    CHECK(agentd::host_exported(detail, "plugin_errors_total") == HostExported::unless_zero);
    CHECK(agentd::host_exported(detail, "plugin_slowdown") == HostExported::unless_one);
    CHECK(agentd::host_exported(detail, "plugin_up") == HostExported::never);
    CHECK(agentd::host_exported(detail, "zzz") == HostExported::always);
    CHECK_FALSE(of(detail, "node_psi").node);
  }
  for (const char* family : {"plugin_up", "plugin_errors_total", "host_capability"})
    CHECK(agentd::host_exported(Detail::all, family) == HostExported::always);
  CHECK(of(Detail::all, "node_psi").node);
}
