// SPDX-License-Identifier: Apache-2.0
// The section "report" of the table in keys.cpp. It is before the key qos.mode.
#include <chrono>
#include <string_view>
#include <utility>

#include "core/config/schema.hpp"

namespace koord::config {
namespace {

using namespace std::chrono_literals;

template <class T, class Member>
Key<Config> report_key(std::string_view path, std::string_view default_value, std::string_view help, ValueType<T> type,
                       Member member) {
  return make_key<Config>(path, default_value, help, std::move(type), member);
}

}  // namespace

Schema<Config> report_keys() {
  using C = Config;
  return {
      report_key(
          "report.nodeMetric", "true", "Write the status of the NodeMetric of this node.", boolean(),
          [](C & c) -> auto& { return c.report.node_metric; }),
      report_key(
          "report.createNodeMetric", "false",
          "Create the NodeMetric if it is missing, for clusters without "
          "Koordinator's manager.",
          boolean(), [](C & c) -> auto& { return c.report.create_node_metric; }),
      report_key(
          "report.changeThresholdPercent", "5", "Smallest change that is written before the heartbeat.",
          integer(0, 100), [](C & c) -> auto& { return c.report.change_threshold_percent; }),
      report_key(
          "report.heartbeat", "1m",
          "Maximum age of a reported status. Must not exceed half of the shortest nodeMetricExpirationSeconds of the "
          "cluster's schedulers and deschedulers (180 by default).",
          duration(30s, 15min), [](C & c) -> auto& { return c.report.heartbeat; }),
      report_key(
          "report.topology", "true", "Write the NodeResourceTopology of this node.", boolean(),
          [](C & c) -> auto& { return c.report.topology; }),
      report_key(
          "report.devices", "false", "Write the Device of this node: its GPUs and RDMA adapters.", boolean(),
          [](C & c) -> auto& { return c.report.devices; }),
      report_key(
          "report.direct.enabled", "false",
          "Send the NodeMetric, with pressure and interference of pods, to koord-manager every few seconds.", boolean(),
          [](C & c) -> auto& { return c.report.direct.enabled; }),
      report_key(
          "report.direct.period", "5s", "Time between two direct reports.", duration(1s, 1min),
          [](C & c) -> auto& { return c.report.direct.period; }),
      report_key(
          "report.direct.window", "10s",
          "Window of the averages of a direct report. Should be longer than cgroup.memoryStatPeriod.",
          duration(5s, 5min), [](C & c) -> auto& { return c.report.direct.window; }),
      report_key(
          "report.direct.lease", "koordetector/koord-manager",
          "Lease of koord-manager. Its holder has the address to report to.", object_name(),
          [](C & c) -> auto& { return c.report.direct.lease; }),
      report_key(
          "report.direct.address", R"("")", "Address to report to. Empty: that of the holder of report.direct.lease.",
          host_and_port_or_empty(), [](C & c) -> auto& { return c.report.direct.address; }),
      report_key(
          "report.direct.serverName", R"("")",
          "Name in the certificate of koord-manager. Empty: NAME.NAMESPACE.svc of report.direct.lease.", any_text(),
          [](C & c) -> auto& { return c.report.direct.server_name; }),
      report_key(
          "report.direct.caFile", R"("")",
          "File with the authorities of that certificate, read again when it is replaced. Empty: those of the API "
          "server.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.report.direct.ca_file; }),
      report_key(
          "report.direct.replaceNodeMetric", "false",
          "Leave the NodeMetric of slo.koordinator.sh to koord-manager while it accepts direct reports.", boolean(),
          [](C & c) -> auto& { return c.report.direct.replace_node_metric; }),
  };
}

}  // namespace koord::config
