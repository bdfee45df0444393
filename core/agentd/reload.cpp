// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/reload.hpp"

namespace koord::agentd {
namespace {

bool same(const NodeRoots& a, const NodeRoots& b) {
  return a.proc == b.proc && a.sys == b.sys && a.cgroup == b.cgroup && a.resctrl == b.resctrl && a.run == b.run &&
         a.kubelet == b.kubelet;
}

bool same(const config::ListenSettings& a, const config::ListenSettings& b) {
  return a.metrics == b.metrics && a.probes == b.probes && a.socket == b.socket && a.socket_group == b.socket_group &&
         a.tls == b.tls;
}

bool same(const config::StoreSettings& a, const config::StoreSettings& b) {
  return a.path == b.path && a.retention == b.retention && a.max_bytes == b.max_bytes &&
         a.journal_period == b.journal_period;
}

bool same(const config::ClusterSettings& a, const config::ClusterSettings& b) {
  return a.kubeconfig == b.kubeconfig && a.requests_per_second == b.requests_per_second && a.burst == b.burst;
}

bool same(const config::StateSettings::Kubelet& a, const config::StateSettings::Kubelet& b) {
  return a.address == b.address && a.port == b.port && a.ca_file == b.ca_file && a.server_name == b.server_name &&
         a.sync_period == b.sync_period && a.timeout == b.timeout;
}

bool same(const config::StateSettings& a, const config::StateSettings& b) {
  return a.source == b.source && a.resync_period == b.resync_period && a.cgroup.paths == b.cgroup.paths &&
         a.file.pods == b.file.pods && a.file.node == b.file.node && a.file.node_slo == b.file.node_slo &&
         same(a.kubelet, b.kubelet) && a.api_server.slo_config_map == b.api_server.slo_config_map &&
         a.api_server.volumes == b.api_server.volumes;
}

bool same(const config::PredictSettings& a, const config::PredictSettings& b) {
  return a.enabled == b.enabled && a.directory == b.directory && a.cold_start == b.cold_start &&
         a.safety_margin_percent == b.safety_margin_percent && a.cpu_half_life == b.cpu_half_life &&
         a.memory_half_life == b.memory_half_life && a.training_period == b.training_period &&
         a.model_expiry == b.model_expiry && a.checkpoint_period == b.checkpoint_period;
}

bool same(const config::ReportSettings& a, const config::ReportSettings& b) {
  return a.node_metric == b.node_metric && a.create_node_metric == b.create_node_metric &&
         a.change_threshold_percent == b.change_threshold_percent && a.heartbeat == b.heartbeat &&
         a.topology == b.topology && a.devices == b.devices && a.direct == b.direct;
}

}  // namespace

std::vector<std::string> keys_needing_restart(const config::Config& running, const config::Config& fresh) {
  std::vector<std::string> keys;
  if (running.node_name != fresh.node_name) keys.emplace_back("nodeName");
  if (!same(running.roots, fresh.roots)) keys.emplace_back("roots");
  if (!same(running.listen, fresh.listen)) keys.emplace_back("listen");
  if (running.exporter.koordlet_names != fresh.exporter.koordlet_names) keys.emplace_back("exporter.koordletNames");
  if (!same(running.store, fresh.store)) keys.emplace_back("store");
  if (!same(running.cluster, fresh.cluster)) keys.emplace_back("cluster");
  if (!same(running.state, fresh.state)) keys.emplace_back("state");
  if (!same(running.predict, fresh.predict)) keys.emplace_back("predict");
  if (!same(running.report, fresh.report)) keys.emplace_back("report");
  if (running.qos.directory != fresh.qos.directory) keys.emplace_back("qos.directory");
  if (running.qos.max_record_bytes != fresh.qos.max_record_bytes) keys.emplace_back("qos.maxRecordBytes");
  if (running.hooks != fresh.hooks) keys.emplace_back("hooks");
  if (running.workers != fresh.workers) keys.emplace_back("workers");
  if (running.cgroup.kept_files != fresh.cgroup.kept_files) keys.emplace_back("cgroup.keptFiles");
  if (running.plugins.own_directories != fresh.plugins.own_directories) keys.emplace_back("plugins.ownDirectories");
  if (running.plugins.child_program != fresh.plugins.child_program) keys.emplace_back("plugins.childProgram");
  const bool same_uids =
      running.plugins.first_uid == fresh.plugins.first_uid && running.plugins.uids == fresh.plugins.uids;
  if (!same_uids) keys.emplace_back("plugins.uids");
  if (running.plugins.state_directory != fresh.plugins.state_directory) keys.emplace_back("plugins.stateDirectory");
  return keys;
}

void keep_until_restart(const config::Config& running, config::Config& fresh) {
  fresh.plugins.own_directories = running.plugins.own_directories;
  fresh.plugins.child_program = running.plugins.child_program;
  fresh.plugins.first_uid = running.plugins.first_uid;
  fresh.plugins.uids = running.plugins.uids;
  fresh.plugins.state_directory = running.plugins.state_directory;
}

}  // namespace koord::agentd
