// SPDX-License-Identifier: Apache-2.0
// Cluster: the agent's connection to Kubernetes. It has a client of the API server, a client of this node's kubelet,
// the sources of state that use them, and reports about them: capabilities, metrics, log. No response of a server can
// end the agent. Functions are [loop thread] unless marked.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/agentd/kubelet_durations.hpp"
#include "core/agentd/state_choice.hpp"
#include "core/base/problem_tracker.hpp"
#include "core/kube/client.hpp"
#include "core/service/capability_board.hpp"
#include "core/state/api_source.hpp"
#include "core/state/kubelet_source.hpp"
#include "core/state/pod_watch.hpp"

namespace koord::agentd {

class Cluster {
 public:
  struct Parts {
    event::Loop& loop;
    event::WorkerPool& workers;
    const Clock& clock;
    state::Hub& hub;
    cgroup::Layout layout;
    std::string node_name;
    service::CapabilityBoard& capabilities;
    metric::HostMetrics& metrics;
    KubeletDurations& durations;
    const state::AnnotationFilter& annotations;
  };

  // `pods`: PodSource::kubelet or PodSource::apiserver.
  Cluster(Parts parts, const kube::ConnectionConfig& api_server, PodSource pods, const config::Config& config);
  ~Cluster();

  void start();
  void stop();

  // Requests a new list of pods soon. [any]
  void request();

  // Returns the problem in one line; empty: no problem. [any]
  std::string problem() const;

  kube::Client& api() { return api_; }
  // Returns the status of each collection from ApiSource. [any]
  std::vector<state::ApiSource::Status> collections() const;

 private:
  struct Alive {};

  void start_api_source();
  void start_kubelet();
  void connect_kubelet();
  void watch_pods(const state::PodPlaces& places);
  void later(void (Cluster::*what)());
  void report_status();
  void report_kubelet(std::vector<service::Capability>& capabilities, std::string& problem);
  void report_api_server(std::vector<service::Capability>& capabilities, std::string& problem);
  void log_change(const std::string& name, const std::string& problem);
  void log_server(const std::string& problem);

  Parts parts_;
  const kube::ConnectionConfig api_server_;
  const PodSource pods_;
  const config::StateSettings settings_;
  kube::Client api_;
  std::unique_ptr<kube::Client> kubelet_client_;
  std::optional<KubeletPlace> place_;
  std::uint64_t subscription_ = 0;

  mutable std::mutex mutex_;
  std::string problem_;
  ProblemTracker logged_;  // key: collection or component
  state::PodPlaces places_;

  const std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
  std::unique_ptr<state::PodWatch> watch_;
  std::unique_ptr<state::KubeletSource> kubelet_;
  std::unique_ptr<state::ApiSource> source_;
};

// Exports the state of the API server's lists and watches, by kind. `cluster` must outlive the last collection.
void export_cluster(metric::HostMetrics& metrics, const Cluster& cluster);

}  // namespace koord::agentd
