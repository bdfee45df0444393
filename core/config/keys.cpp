// SPDX-License-Identifier: Apache-2.0
// The table of all keys except the keys of a plugin (plugin_keys.cpp), in the order of the reference.
#include <algorithm>
#include <chrono>
#include <iterator>

#include "core/config/on_timeout.hpp"
#include "core/config/overrides.hpp"
#include "core/config/plugin_id.hpp"
#include "core/config/schema.hpp"

namespace koord::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMebibyte = 1u << 20;
constexpr auto kDay = 24h;

using PluginMap = std::map<std::string, PluginSettings, std::less<>>;

std::optional<PluginMap> read_plugins(const Node& node, const std::string& path, Report& report) {
  if (node.kind != NodeKind::mapping) {
    report_value(report, path, node, invalid("expected a mapping of plugin ids, found " + describe(node)));
    return std::nullopt;
  }
  PluginMap plugins;
  for (const Entry& entry : node.entries) {
    if (!is_plugin_id(entry.key))
      report.add(entry.place,
                 path + ": '" + entry.key + "' is not a plugin id, expected " + std::string(kPluginIdForm));
    PluginSettings& settings = plugins[entry.key];
    apply_defaults(plugin_schema(), settings, report);
    settings.on_timeout = default_on_timeout(entry.key);
    apply_document(plugin_schema(), entry.value, path + "." + quote_key(entry.key) + ".", settings, report);
  }
  return plugins;
}

ValueType<PluginMap> plugin_map() { return {"mapping of plugin ids to their settings", read_plugins}; }

template <class T, class Member>
Key<Config> key(std::string_view path, std::string_view default_value, std::string_view help, ValueType<T> type,
                Member member) {
  return make_key<Config>(path, default_value, help, std::move(type), member);
}

Schema<Config> make_config_schema() {
  using C = Config;
  using log::Format, log::Level;
  return {
      key(
          "nodeName", R"("")", "Name of this node. Empty: $NODE_NAME, else the host's name.", any_text(),
          [](C & c) -> auto& { return c.node_name; }),

      key(
          "roots.proc", "/proc", "Path of the node's proc file system.", absolute_path(),
          [](C & c) -> auto& { return c.roots.proc; }),
      key(
          "roots.sys", "/sys", "Path of the node's sysfs.", absolute_path(),
          [](C & c) -> auto& { return c.roots.sys; }),
      key(
          "roots.cgroup", "/sys/fs/cgroup", "Path of the node's cgroup hierarchy, version 1, 2 or hybrid.",
          absolute_path(), [](C & c) -> auto& { return c.roots.cgroup; }),
      key(
          "roots.resctrl", "/sys/fs/resctrl", "Mount point of resctrl, if mounted.", absolute_path(),
          [](C & c) -> auto& { return c.roots.resctrl; }),
      key(
          "roots.run", "/run", "Path of the node's sockets and runtime state.", absolute_path(),
          [](C & c) -> auto& { return c.roots.run; }),
      key(
          "roots.kubelet", "/var/lib/kubelet", "Path of the kubelet's state, such as its CPU assignments.",
          absolute_path(), [](C & c) -> auto& { return c.roots.kubelet; }),

      key(
          "log.level", "info", "Lowest level of lines that are written.",
          choice({Level::trace, Level::debug, Level::info, Level::warn, Level::error}),
          [](C & c) -> auto& { return c.log.level; }),
      key(
          "log.format", "text", "Format of log lines: for humans or for log collectors.",
          choice({Format::text, Format::json}), [](C & c) -> auto& { return c.log.format; }),

      key(
          "listen.metrics", "127.0.0.1:9316", "Address of /metrics, /healthz and /readyz.", host_and_port_or_empty(),
          [](C & c) -> auto& { return c.listen.metrics; }),
      key(
          "listen.tls.certFile", R"("")",
          "PEM file with the certificate of listen.metrics and its intermediates. Empty: plain HTTP. A replaced file is "
          "used within seconds.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.listen.tls.certificate_file; }),
      key(
          "listen.tls.keyFile", R"("")", "PEM file with the key of listen.tls.certFile.", absolute_path_or_empty(),
          [](C & c) -> auto& { return c.listen.tls.key_file; }),
      key(
          "listen.tls.clientCaFile", R"("")",
          "PEM file with the authorities of clients' certificates. CN is the user, O its groups. Empty: no certificate is "
          "requested.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.listen.tls.client_ca_file; }),
      key(
          "listen.tls.authorization", "none",
          "Clients served on listen.metrics. none: all, or with listen.tls.clientCaFile all with a verified certificate; "
          "kubernetes: users that the API server allows to get the path, by bearer token or certificate.",
          choice({Authorization::none, Authorization::kubernetes}),
          [](C & c) -> auto& { return c.listen.tls.authorization; }),
      key(
          "listen.probes", "",
          "Second address of /healthz and /readyz, on a listener of its own, which scrapers cannot exhaust.",
          host_and_port_or_empty(), [](C & c) -> auto& { return c.listen.probes; }),
      key(
          "listen.socket", "/run/koordetector/koordetector.sock",
          "Unix socket of the data API, for root and listen.socketGroup. A plugin's process is refused, whatever its user.",
          socket_path_or_empty(), [](C & c) -> auto& { return c.listen.socket; }),
      key(
          "listen.socketGroup", R"("")",
          "Group allowed to use the data API, to change modes and to reload plugins: a name or a number. Empty: root "
          "only.",
          any_text(), [](C & c) -> auto& { return c.listen.socket_group; }),

      key(
          "exporter.detail", "container",
          "Subjects with series on /metrics. container: at most 15 of each; all: also histograms and details of containers.",
          choice({Detail::node, Detail::pod, Detail::container, Detail::all}),
          [](C & c) -> auto& { return c.exporter.detail; }),
      key(
          "exporter.koordletNames", "false", "Adds koordlet's metric families to /metrics, for existing dashboards.",
          boolean(), [](C & c) -> auto& { return c.exporter.koordlet_names; }),

      key(
          "featureGates", "{}",
          "Features switched on or off by gate; AllAlpha and AllBeta select all gates of a stage.", gate_map(),
          [](C & c) -> auto& { return c.feature_gates; }),

      key(
          "cgroup.memoryStatPeriod", "5s",
          "Period of reading memory.stat and memory.numa_stat of a cgroup, which cost more than all other files "
          "together.",
          duration(100ms, 1h), [](C & c) -> auto& { return c.cgroup.memory_stat_period; }),
      key(
          "cgroup.keptFiles", "8192",
          "Number of cgroup files kept open, at some 5 KiB of kernel memory each; the others are opened for each read.",
          integer(0, 1'000'000), [](C & c) -> auto& { return c.cgroup.kept_files; }),

      key(
          "plugins.ownDirectories", "[]",
          "Directories with the agent's own plugins, which may run in the agent's process and be on by default.",
          list_of(absolute_path()), [](C & c) -> auto& { return c.plugins.own_directories; }),
      key(
          "plugins.directories", "[]", "Directories that are searched for third-party plugins.",
          list_of(absolute_path()), [](C & c) -> auto& { return c.plugins.directories; }),
      key(
          "plugins.childProgram", "",
          "Path of koord-plugin-host, which runs plugins in a process of their own; empty: the one beside the agent.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.plugins.child_program; }),
      key(
          "plugins.trust", "any", "Required proof of each plugin's file: none, a sha256 below, or a signature.",
          choice({Trust::any, Trust::pinned, Trust::signature}), [](C & c) -> auto& { return c.plugins.trust; }),
      key(
          "plugins.trustedKeys", "[]", "PEM files with the Ed25519 public keys that verify signatures of plugins.",
          list_of(absolute_path()), [](C & c) -> auto& { return c.plugins.trusted_keys; }),
      key(
          "plugins.uids.first", "2000000000",
          "First of the users that third-party plugins run as, one for each plugin id. Nothing else on the node may have them. "
          "A change needs a restart.",
          integer(1000, 4'294'000'000), [](C & c) -> auto& { return c.plugins.first_uid; }),
      key(
          "plugins.uids.count", "10000", "Number of user ids. 0: plugins run as the agent's user.", integer(0, 900'000),
          [](C & c) -> auto& { return c.plugins.uids; }),
      key(
          "plugins.stateDirectory", "",
          "Parent of one directory for each third-party plugin, the only one that it may write to; its owner is the "
          "plugin's user. Not set: plugin-state beside store.path.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.plugins.state_directory; }),
      key(
          "plugins.minimumIsolation", "[]",
          "Layers that each third-party plugin must have: uid, landlock, seccomp, cgroup. A plugin that lacks one is "
          "refused at start and at reload; with isolation: inprocess it lacks all. Grants are not checked.",
          isolation_layers(), [](C & c) -> auto& { return c.plugins.minimum_isolation; }),
      key(
          "plugins.cpuBudget", "100m",
          "CPU that the agent and all plugins may use together; beyond it advisors tick slower. 0: no limit.", cpu(0),
          [](C & c) -> auto& { return c.plugins.cpu_budget_millis; }),
      key(
          "plugins.settings", "{}", "Settings of single plugins, by id.", plugin_map(),
          [](C & c) -> auto& { return c.plugins.settings; }),

      key(
          "store.path", "/var/lib/koordetector/metrics.db",
          "File of the metric cache. Off: the cache is in memory and ends with the agent.", absolute_path_or_empty(),
          [](C & c) -> auto& { return c.store.path; }),
      key(
          "store.retention", "12h", "Age at which samples are deleted.", duration(30min, 90 * kDay),
          [](C & c) -> auto& { return c.store.retention; }),
      key(
          "store.maxBytes", "64Mi", "Maximum size of the file; the oldest samples are deleted.", size(kMebibyte),
          [](C & c) -> auto& { return c.store.max_bytes; }),
      key(
          "store.journalPeriod", "1s",
          "Period of writing samples to the disk; a crash loses the samples of one "
          "period.",
          duration(100ms, 1min), [](C & c) -> auto& { return c.store.journal_period; }),

      key(
          "cluster.kubeconfig", R"("")",
          "Kubeconfig file for the API server. Not set: $KUBECONFIG, else the service account of the agent's pod.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.cluster.kubeconfig; }),
      key(
          "cluster.requestsPerSecond", "5", "Average limit of requests to the API server per second.", integer(1, 1000),
          [](C & c) -> auto& { return c.cluster.requests_per_second; }),
      key(
          "cluster.burst", "10", "Limit of requests to the API server in a burst.", integer(1, 1000),
          [](C & c) -> auto& { return c.cluster.burst; }),

      key(
          "state.source", "auto", "Source of pods and containers. auto: the best available one.",
          choice({StateSource::automatic, StateSource::kubelet, StateSource::apiserver, StateSource::file,
                  StateSource::cgroup}),
          [](C & c) -> auto& { return c.state.source; }),
      key(
          "state.file.pods", R"("")", "A PodList as YAML or JSON, watched.", any_text(),
          [](C & c) -> auto& { return c.state.file.pods; }),
      key(
          "state.file.node", R"("")", "A Node as YAML or JSON, watched.", any_text(),
          [](C & c) -> auto& { return c.state.file.node; }),
      key(
          "state.file.nodeSLO", R"("")", "A NodeSLO as YAML or JSON, watched.", any_text(),
          [](C & c) -> auto& { return c.state.file.node_slo; }),
      key(
          "state.kubelet.address", R"("")", "Address of the kubelet. Not set: the internal address of the node.",
          any_text(), [](C & c) -> auto& { return c.state.kubelet.address; }),
      key(
          "state.kubelet.port", "0", "Port of the kubelet. 0: the one in the Node's status.", integer(0, 65535),
          [](C & c) -> auto& { return c.state.kubelet.port; }),
      key(
          "state.kubelet.caFile", R"("")",
          "File of certificate authorities for the kubelet, in PEM. Not set: those "
          "of the API server.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.state.kubelet.ca_file; }),
      key(
          "state.kubelet.serverName", R"("")", "Server name in the kubelet's certificate. Not set: its address.",
          any_text(), [](C & c) -> auto& { return c.state.kubelet.server_name; }),
      key(
          "state.kubelet.syncPeriod", "10s", "Period of requests for the kubelet's pods when no cgroup came or went.",
          duration(1s, 1h), [](C & c) -> auto& { return c.state.kubelet.sync_period; }),
      key(
          "state.kubelet.timeout", "3s", "Timeout of the kubelet's answers.", duration(100ms, 1min),
          [](C & c) -> auto& { return c.state.kubelet.timeout; }),
      key(
          "state.apiserver.sloConfigMap", "koordinator-system/slo-controller-config",
          "namespace/name of the ConfigMap that NodeSLOs are made from, to explain the origin of values. \"\": not "
          "read.",
          any_text(), [](C & c) -> auto& { return c.state.api_server.slo_config_map; }),
      key(
          "state.apiserver.volumes", "false",
          "Watch persistent volume claims; required for block I/O limits per "
          "volume.",
          boolean(), [](C & c) -> auto& { return c.state.api_server.volumes; }),
      key(
          "state.cgroup.paths", "[]", "Further cgroups to observe, relative to the root of the hierarchy.",
          list_of(any_text()), [](C & c) -> auto& { return c.state.cgroup.paths; }),
      key(
          "state.podAnnotations", "[]",
          "Annotations of pods to keep for plugins that do not name them in their manifest: \"example.org/batch\", or "
          "all of a domain, \"example.org/*\". All other annotations are dropped, except Koordinator's and those of "
          "manifests.",
          list_of(any_text()), [](C & c) -> auto& { return c.state.pod_annotations; }),
      key(
          "state.resyncPeriod", "3s", "Period of reading the source again without a known change.", duration(100ms, 1h),
          [](C & c) -> auto& { return c.state.resync_period; }),

      key(
          "predict.enabled", "true", "Learn the peak usage of pods and of the node.", boolean(),
          [](C & c) -> auto& { return c.predict.enabled; }),
      key(
          "predict.directory", "/var/lib/koordetector/predictions",
          "Directory of the models. \"\": none, they are learnt again after each start.", absolute_path_or_empty(),
          [](C & c) -> auto& { return c.predict.directory; }),
      key(
          "predict.coldStart", "24h", "Minimum age of a pod with reclaimable resources.", duration(0s, 7 * kDay),
          [](C & c) -> auto& { return c.predict.cold_start; }),
      key(
          "predict.safetyMarginPercent", "10", "Margin added to a peak.", integer(0, 1000),
          [](C & c) -> auto& { return c.predict.safety_margin_percent; }),
      key(
          "predict.cpuHalfLife", "12h", "Age at which a sample of CPU counts half.", duration(1min, 30 * kDay),
          [](C & c) -> auto& { return c.predict.cpu_half_life; }),
      key(
          "predict.memoryHalfLife", "24h", "Age at which a sample of memory counts half.", duration(1min, 30 * kDay),
          [](C & c) -> auto& { return c.predict.memory_half_life; }),
      key(
          "predict.trainingPeriod", "1m", "Period of training, and time span of its samples.", duration(10s, 1h),
          [](C & c) -> auto& { return c.predict.training_period; }),
      key(
          "predict.modelExpiry", "30m", "Time after which the model of a missing subject is deleted.",
          duration(1min, 7 * kDay), [](C & c) -> auto& { return c.predict.model_expiry; }),
      key(
          "predict.checkpointPeriod", "10m", "Period of saving the model of one pod.", duration(1min, kDay),
          [](C & c) -> auto& { return c.predict.checkpoint_period; }),

      key(
          "qos.mode", "shadow",
          "Default mode of strategies. off: proposals are ignored; shadow: recorded, not written; enforce: written.",
          choice({Mode::off, Mode::shadow, Mode::enforce}), [](C & c) -> auto& { return c.qos.mode; }),
      key(
          "qos.onExit", "restore",
          "Action on knobs when the agent ends. restore: reverts them; keep: leaves them to the next start, as in a "
          "rollout.",
          choice({OnExit::restore, OnExit::keep}), [](C & c) -> auto& { return c.qos.on_exit; }),
      key(
          "qos.directory", "/var/lib/koordetector/qos",
          "Directory of original values and decisions. \"\": none, and no knob is written.", absolute_path_or_empty(),
          [](C & c) -> auto& { return c.qos.directory; }),
      key(
          "qos.refreshPeriod", "60s", "Longest time after which a written knob is read again.", duration(1s, 1h),
          [](C & c) -> auto& { return c.qos.refresh_period; }),
      key(
          "qos.maxWritesPerSecond", "2000", "Limit of writes to the kernel, on average; reverts are not limited.",
          integer(1, 1'000'000), [](C & c) -> auto& { return c.qos.max_writes_per_second; }),
      key(
          "qos.maxRecordBytes", "32Mi", "Maximum size of the file of decisions; the oldest records are deleted.",
          size(kMebibyte), [](C & c) -> auto& { return c.qos.max_record_bytes; }),

      key(
          "hooks.nri.socket", "/var/run/nri/nri.sock",
          "NRI socket of the container runtime. The agent connects when a runtime hook runs. \"\": hooks adjust existing pods "
          "only.",
          socket_path_or_empty(), [](C & c) -> auto& { return c.hooks.nri_socket; }),
      key(
          "hooks.nri.index", "50", "Place among the runtime's NRI plugins, which it calls in this order.",
          integer(0, 99), [](C & c) -> auto& { return c.hooks.nri_index; }),
      key(
          "hooks.deadline", "200ms",
          "Longest delay of a pod or container by hooks. The answers that are missing then are not used; existing pods get "
          "them later.",
          duration(20ms, 1500ms), [](C & c) -> auto& { return c.hooks.deadline; }),

      key(
          "evict.tier", "api",
          "api: evicts pods through the API server; runtime: also kills their containers if that is refused under "
          "memory pressure.",
          choice({EvictionTier::api, EvictionTier::runtime}), [](C & c) -> auto& { return c.evict.tier; }),
      key(
          "evict.mostPods", "5", "Maximum number of pods evicted in a window.", integer(1, 1000),
          [](C & c) -> auto& { return c.evict.most_pods; }),
      key(
          "evict.window", "5m", "Length of the window of evict.mostPods and evict.brakePercent.", duration(10s, kDay),
          [](C & c) -> auto& { return c.evict.window; }),
      key(
          "evict.brakePercent", "30",
          "If more than this share of the node's pods, and more than 5, are selected in a window, no pod is evicted "
          "for evict.brakePeriod.",
          integer(1, 100), [](C & c) -> auto& { return c.evict.brake_percent; }),
      key(
          "evict.brakePeriod", "30m", "Duration of the brake: evictions are recorded and not executed.",
          duration(1min, kDay), [](C & c) -> auto& { return c.evict.brake_period; }),
      key(
          "evict.pendingPeriod", "2m",
          "Time in which an evicted pod's usage counts as released while the pod is "
          "still ending.",
          duration(10s, 1h), [](C & c) -> auto& { return c.evict.pending_period; }),
      key(
          "evict.runtimePressurePercent", "20",
          "Share of 10 s in which all tasks of the node wait for memory; above it the tier runtime may kill "
          "containers.",
          integer(1, 100), [](C & c) -> auto& { return c.evict.runtime_pressure_percent; }),

      key(
          "workers", "4", "Threads that run plugins.", integer(1, 64), [](C & c) -> auto& { return c.workers; }),
  };
}

}  // namespace

const Schema<Config>& config_schema() {
  static const Schema<Config> schema = [] {
    Schema<Config> keys = make_config_schema();
    Schema<Config> reports = report_keys();
    const auto after = std::find_if(keys.begin(), keys.end(), [](const auto& one) { return one.path == "qos.mode"; });
    keys.insert(after, std::make_move_iterator(reports.begin()), std::make_move_iterator(reports.end()));
    return keys;
  }();
  return schema;
}

}  // namespace koord::config
