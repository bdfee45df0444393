// SPDX-License-Identifier: Apache-2.0
// Limits for the metrics that a plugin defines: reserved names, their number, and their bytes.
#include <memory>
#include <set>
#include <string>

#include "test/core/service/metrics_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {

struct ForeignMetrics : MetricsOnHost {
  std::unique_ptr<service::PluginContext> other =
      std::make_unique<service::PluginContext>(host.services(), "com.acme.x", std::set<std::string>{"koord.metrics/1"},
                                               "{}", service::Rights{.host_plugin = false, .files = {}, .cgroups = {}});
  std::string why;

  koord_status define_as_other(const koord_metric_desc& desc) {
    std::uint32_t metric = 0;
    const koord_status status = service->define(other->host(), &desc, &metric);
    const auto error = other->take_error();
    why = error ? error->text : "";
    return status;
  }
};

}  // namespace

TEST_CASE_FIXTURE(ForeignMetrics, "a third party defines no metric of the agent's own plugins") {
  for (const char* name : {"pod_cpu_usage", "node_cpu_usage", "container_sched_latency_mean_seconds",
                           "be_suppress_cpu_cores", "node_network_receive_bytes_total", "rdma_port_active"}) {
    CAPTURE(name);
    CHECK(define_as_other(desc(name)) == KOORD_E_DENIED);
    CHECK(why == "metric '" + std::string(name) +
                     "' is reserved for the agent's own plugins, expected a name of com.acme.x's own");
  }
  CHECK(define_as_other(desc("pod_acme_usage")) == KOORD_OK);
  CHECK(define(desc("pod_cpu_usage")) > 0);
}

TEST_CASE_FIXTURE(ForeignMetrics,
                  "one of the agent's own plugins defines its metrics although a third party was first") {
  service::PluginContext squatter(host.services(), "com.acme.squatter", {"koord.metrics/1"}, "{}");
  const metric::Desc first{.name = "pod_cpu_usage_sum", .unit = "", .help = "Mine.", .bounds = {}};
  REQUIRE(host.metrics().define("com.acme.squatter", first));
  const metric::Desc taken{.name = "pod_cpu_usage", .unit = "", .help = "Mine.", .bounds = {}};
  REQUIRE(host.metrics().define("com.acme.squatter", taken));
  std::uint32_t metric = 0;
  const koord_metric_desc ours = desc("pod_cpu_usage");
  CHECK(service->define(abi, &ours, &metric) == KOORD_OK);
  CHECK(metric > 0);
}

TEST_CASE_FIXTURE(ForeignMetrics, "definitions are bounded in number and in bytes") {
  const std::string help(4096, 'x');
  koord_metric_desc big = desc("big");
  const std::string too_long(4097, 'x');
  big.help = str(too_long);
  CHECK(define_as_other(big) == KOORD_E_INVALID);
  CHECK(why == "metric 'big': its help has 4097 bytes, expected at most 4096");
  int defined = 0;
  koord_status status = KOORD_OK;
  for (; status == KOORD_OK && defined < 5000; ++defined) {
    const std::string name = "acme_" + std::to_string(defined);
    koord_metric_desc one = desc(name);
    one.help = str(help);
    status = define_as_other(one);
  }
  CHECK(status == KOORD_E_AGAIN);
  CHECK(defined < 520);
  CHECK(why == "'com.acme.x' has definitions of metrics with more than 2097152 bytes of text and bounds");
  CHECK(other->meter()->breaches.newest(host.clock().now()) == why);
  CHECK(define(desc("ours")) > 0);  // a different plugin is not affected
}

TEST_CASE_FIXTURE(ForeignMetrics,
                  "a plugin may define a limited number of metrics, and may define existing ones again") {
  koord_status status = KOORD_OK;
  int defined = 0;
  for (; status == KOORD_OK && defined < 5000; ++defined)
    status = define_as_other(desc("acme_" + std::to_string(defined)));
  CHECK(defined == 2001);
  CHECK(why == "'com.acme.x' has defined 2000 metrics, as many as it may");
  CHECK(define_as_other(desc("acme_7")) == KOORD_OK);
}

TEST_CASE_FIXTURE(ForeignMetrics, "labels are bounded in number and in bytes") {
  const std::uint32_t metric = define(desc("a"));
  std::uint64_t series = 0;
  const std::vector<koord_label> many(65, label("k", "v"));
  CHECK(service->series(abi, metric, KOORD_NO_SUBJECT, many.data(), 65, sizeof(koord_label), &series) ==
        KOORD_E_INVALID);
  CHECK(host.last_error() == "labels: 65 of them, expected at most 64");
  const std::string value(5000, 'x');
  const koord_label one = label("k", value);
  CHECK(service->series(abi, metric, KOORD_NO_SUBJECT, &one, 1, sizeof one, &series) == KOORD_E_INVALID);
  CHECK(host.last_error() == "a label's value is 5000 bytes long, expected at most 4096");
}
