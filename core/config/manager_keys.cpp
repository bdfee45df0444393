// SPDX-License-Identifier: Apache-2.0
// The table of the keys of koord-manager, in the order of the reference.
#include <chrono>
#include <string_view>
#include <utility>

#include "core/config/manager_schema.hpp"

namespace koord::config {
namespace {

using namespace std::chrono_literals;

template <class T, class Member>
Key<ManagerConfig> manager_key(std::string_view path, std::string_view default_value, std::string_view help,
                               ValueType<T> type, Member member) {
  return make_key<ManagerConfig>(path, default_value, help, std::move(type), member);
}

Schema<ManagerConfig> make_manager_schema() {
  using M = ManagerConfig;
  using log::Format, log::Level;
  return {
      manager_key(
          "log.level", "info", "Least severe lines that are logged.",
          choice({Level::trace, Level::debug, Level::info, Level::warn, Level::error}),
          [](M & m) -> auto& { return m.log.level; }),
      manager_key(
          "log.format", "text", "Form of log lines.", choice({Format::text, Format::json}),
          [](M & m) -> auto& { return m.log.format; }),

      manager_key(
          "listen", R"(":9320")", "Address of /healthz, /readyz and /metrics. Empty: off.", host_and_port_or_empty(),
          [](M & m) -> auto& { return m.listen; }),
      manager_key(
          "advertise", R"("")",
          "IP address and port that the Lease names as the leader's. Empty: $POD_IP with the port of serve.address, else of "
          "listen.",
          address_and_port_or_empty(), [](M & m) -> auto& { return m.advertise; }),

      manager_key(
          "cluster.kubeconfig", R"("")", "Kubeconfig file. Empty: $KUBECONFIG, else the service account of the pod.",
          absolute_path_or_empty(), [](M & m) -> auto& { return m.cluster.kubeconfig; }),
      manager_key(
          "cluster.requestsPerSecond", "50", "Requests a second to the API server, watches and the Lease aside.",
          integer(1, 10'000), [](M & m) -> auto& { return m.cluster.requests_per_second; }),
      manager_key(
          "cluster.burst", "100", "Requests to the API server at once.", integer(1, 100'000),
          [](M & m) -> auto& { return m.cluster.burst; }),

      manager_key(
          "sloConfigMap", "koordinator-system/slo-controller-config",
          "ConfigMap with the settings of NodeSLO, NodeMetric and colocation.", object_name(),
          [](M & m) -> auto& { return m.slo_config_map; }),

      manager_key(
          "lease.namespace", R"("")", "Namespace of the Lease. Empty: $POD_NAMESPACE, else koordetector.",
          namespace_or_empty(), [](M & m) -> auto& { return m.lease.name_space; }),
      manager_key(
          "lease.name", "koord-manager", "Name of the Lease.", lease_name(),
          [](M & m) -> auto& { return m.lease.name; }),
      manager_key(
          "lease.duration", "6s", "A replica takes the lease if the leader has not renewed it for this time.",
          duration(1s, 5min), [](M & m) -> auto& { return m.lease.duration; }),
      manager_key(
          "lease.renew", "4s", "The leader ceases to lead if it has not renewed the lease for this time.",
          duration(500ms, 5min), [](M & m) -> auto& { return m.lease.renew; }),
      manager_key(
          "lease.retry", "1s", "Time between two renewals, and between two reads of the lease.", duration(100ms, 5min),
          [](M & m) -> auto& { return m.lease.retry; }),

      manager_key(
          "serve.address", R"("")", "Address of the aggregated API of NodeMetrics (HTTPS). Empty: off.",
          host_and_port_or_empty(), [](M & m) -> auto& { return m.serve.address; }),
      manager_key(
          "serve.certificateFile", R"("")",
          "Certificate of serve.address in PEM, with its chain, for SERVICE.NAMESPACE.svc. Read again when it is "
          "replaced.",
          absolute_path_or_empty(), [](M & m) -> auto& { return m.serve.certificate_file; }),
      manager_key(
          "serve.keyFile", R"("")", "Key of that certificate in PEM.", absolute_path_or_empty(),
          [](M & m) -> auto& { return m.serve.key_file; }),
      manager_key(
          "serve.agentUser", "system:serviceaccount:koordinator-system:koordetector",
          "User of the agents' tokens. Without a node's name in its token it may write nothing. Empty: not checked.",
          any_text(), [](M & m) -> auto& { return m.serve.agent_user; }),
      manager_key(
          "serve.service", "koord-manager",
          "Service without a selector, in the Lease's namespace. Its EndpointSlice names the leader. Empty: none.",
          service_name_or_empty(), [](M & m) -> auto& { return m.serve.service; }),
      manager_key(
          "serve.fillTime", "15s",
          "Time from when a replica begins to lead until it serves reads. Earlier once all nodes have reported. An agent "
          "needs up to two of its report.direct.period and 5 s to find a new leader.",
          duration(0s, 5min), [](M & m) -> auto& { return m.serve.fill_time; }),
      manager_key(
          "serve.reviewCache", "10s",
          "Time for which a TokenReview or SubjectAccessReview counts. Each agent needs one of both in that time.",
          duration(1s, 10min), [](M & m) -> auto& { return m.serve.review_cache; }),

      manager_key(
          "batch.withdrawWindow", "10s", "Window of reports by which batch resources are withdrawn.",
          duration(1s, 10min), [](M & m) -> auto& { return m.batch.withdraw_window; }),
      manager_key(
          "batch.withdrawPercent", "2", "Smaller losses, in percent of what is published, are not withdrawn at once.",
          integer(0, 50), [](M & m) -> auto& { return m.batch.withdraw_percent; }),
      manager_key(
          "batch.grace", "30s", "Time from when a node is silent (3 reports missed) until its batch resources shrink.",
          duration(0s, 24h), [](M & m) -> auto& { return m.batch.grace; }),

      manager_key(
          "featureGates", "{}", "Controllers by name: NodeSLO, NodeMetric, BatchResources, NodeMetricMirror.",
          gate_map(), [](M & m) -> auto& { return m.feature_gates; }),
  };
}

}  // namespace

const Schema<ManagerConfig>& manager_schema() {
  static const Schema<ManagerConfig> schema = make_manager_schema();
  return schema;
}

}  // namespace koord::config
