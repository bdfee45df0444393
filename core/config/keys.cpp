// SPDX-License-Identifier: Apache-2.0
// The table of all keys: the one place that names them. Order is the order of the reference.
#include <algorithm>
#include <chrono>

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
    apply_document(plugin_schema(), entry.value, path + "." + quote_key(entry.key) + ".", settings, report);
  }
  return plugins;
}

ValueType<PluginMap> plugin_map() {
  return {"mapping of plugin ids to their settings", read_plugins};
}

ValueType<StrategyMode> strategy_mode() {
  return choice({StrategyMode::off, StrategyMode::shadow, StrategyMode::enforce});
}

template <class T, class Member>
Key<Config> key(std::string_view path, std::string_view default_value, std::string_view help,
                ValueType<T> type, Member member) {
  return make_key<Config>(path, default_value, help, std::move(type), member);
}

template <class T, class Member>
Key<PluginSettings> plugin_key(std::string_view path, std::string_view default_value, std::string_view help,
                               ValueType<T> type, Member member) {
  return make_key<PluginSettings>(path, default_value, help, std::move(type), member);
}

Schema<Config> make_config_schema() {
  using C = Config;
  using log::Format, log::Level;
  return {
      key(
          "nodeName", R"("")", "Name of this node. Empty: $NODE_NAME, else the host's name.", any_text(),
          [](C & c) -> auto& { return c.node_name; }),

      key(
          "roots.proc", "/proc", "Where the node's proc file system is.", absolute_path(),
          [](C & c) -> auto& { return c.roots.proc; }),
      key(
          "roots.sys", "/sys", "Where the node's sysfs is.", absolute_path(),
          [](C & c) -> auto& { return c.roots.sys; }),
      key(
          "roots.cgroup", "/sys/fs/cgroup", "Where the node's cgroup hierarchy is, version 1, 2 or hybrid.",
          absolute_path(), [](C & c) -> auto& { return c.roots.cgroup; }),
      key(
          "roots.resctrl", "/sys/fs/resctrl", "Where resctrl is mounted, if it is.", absolute_path(),
          [](C & c) -> auto& { return c.roots.resctrl; }),
      key(
          "roots.run", "/run", "Where the node's sockets and runtime state are.", absolute_path(),
          [](C & c) -> auto& { return c.roots.run; }),
      key(
          "roots.kubelet", "/var/lib/kubelet", "Where the kubelet keeps its state, such as which CPUs it gave to whom.",
          absolute_path(), [](C & c) -> auto& { return c.roots.kubelet; }),

      key(
          "log.level", "info", "The least important lines that are written.",
          choice({Level::trace, Level::debug, Level::info, Level::warn, Level::error}),
          [](C & c) -> auto& { return c.log.level; }),
      key(
          "log.format", "text", "How a line looks: for a human or for a collector of logs.",
          choice({Format::text, Format::json}), [](C & c) -> auto& { return c.log.format; }),

      key(
          "listen.metrics", "127.0.0.1:9316", "Where /metrics, /healthz and /readyz are served.",
          host_and_port_or_empty(), [](C & c) -> auto& { return c.listen.metrics; }),
      key(
          "listen.probes", "",
          "Where /healthz and /readyz are served besides, on a listener of their own, which scrapers cannot exhaust.",
          host_and_port_or_empty(), [](C & c) -> auto& { return c.listen.probes; }),
      key(
          "listen.socket", "/run/koordetector/koordetector.sock",
          "Unix socket of the data API, for root and listen.socketGroup. A plugin's process is refused, whatever its user.",
          socket_path_or_empty(), [](C & c) -> auto& { return c.listen.socket; }),
      key(
          "listen.socketGroup", R"("")",
          "Group whose members may use the data API, and so change modes and reload plugins: a name or a number. Empty: root alone.",
          any_text(), [](C & c) -> auto& { return c.listen.socket_group; }),

      key(
          "exporter.koordletNames", "false",
          "Shows what there is of koordlet's families on /metrics, too, for dashboards that ask for them.", boolean(),
          [](C & c) -> auto& { return c.exporter.koordlet_names; }),

      key(
          "featureGates", "{}",
          "Features switched on or off by gate; AllAlpha and AllBeta stand for a stage.", gate_map(),
          [](C & c) -> auto& { return c.feature_gates; }),

      key(
          "cgroup.memoryStatPeriod", "5s",
          "How often memory.stat and memory.numa_stat of a cgroup are read, which cost more than all else together.",
          duration(100ms, 1h), [](C & c) -> auto& { return c.cgroup.memory_stat_period; }),
      key(
          "cgroup.keptFiles", "8192",
          "How many cgroup files stay open, at some 5 KiB of kernel memory each; the others are opened for each read.",
          integer(0, 1'000'000), [](C & c) -> auto& { return c.cgroup.kept_files; }),

      key(
          "plugins.ownDirectories", "[]",
          "Directories with the agent's own plugins: what lies there may run in the agent and be on by default.",
          list_of(absolute_path()), [](C & c) -> auto& { return c.plugins.own_directories; }),
      key(
          "plugins.directories", "[]", "Directories that are searched for third-party plugins.",
          list_of(absolute_path()), [](C & c) -> auto& { return c.plugins.directories; }),
      key(
          "plugins.childProgram", "",
          "The koord-plugin-host that plugins in a process of their own are run by; empty: the one beside the agent.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.plugins.child_program; }),
      key(
          "plugins.trust", "any", "What each plugin's file must have: nothing, a sha256 below, or a signature.",
          choice({Trust::any, Trust::pinned, Trust::signature}),
          [](C & c) -> auto& { return c.plugins.trust; }),
      key(
          "plugins.trustedKeys", "[]",
          "PEM files with the Ed25519 public keys that signatures of plugins are checked against.",
          list_of(absolute_path()), [](C & c) -> auto& { return c.plugins.trusted_keys; }),
      key(
          "plugins.uids.first", "2000000000",
          "First of the users that third-party plugins run as, one for each plugin id. Nothing else on the node may have them. "
          "A change needs a restart.",
          integer(1000, 4'294'000'000), [](C & c) -> auto& { return c.plugins.first_uid; }),
      key(
          "plugins.uids.count", "10000", "How many users. 0: plugins run as the agent's user.", integer(0, 900'000),
          [](C & c) -> auto& { return c.plugins.uids; }),
      key(
          "plugins.stateDirectory", "",
          "Holds a directory for each third-party plugin, the only one that it may write to; its owner is the plugin's user. "
          "Not set: plugin-state beside store.path.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.plugins.state_directory; }),
      key(
          "plugins.minimumIsolation", "[]",
          "Layers that a plugin in a process of its own must have (uid, landlock, seccomp, cgroup); it is refused where one is missing, "
          "at a reload too.",
          isolation_layers(), [](C & c) -> auto& { return c.plugins.minimum_isolation; }),
      key(
          "plugins.cpuBudget", "100m",
          "CPU that the agent and all plugins may use together; beyond it advisors tick slower. 0: as much as they want.",
          cpu(0), [](C & c) -> auto& { return c.plugins.cpu_budget_millis; }),
      key(
          "plugins.settings", "{}", "Settings of single plugins, by id.", plugin_map(),
          [](C & c) -> auto& { return c.plugins.settings; }),

      key(
          "store.path", "/var/lib/koordetector/metrics.db",
          "File of the metric cache. Off: the cache is in memory and ends with the agent.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.store.path; }),
      key(
          "store.retention", "12h", "How long samples are kept.", duration(30min, 90 * kDay),
          [](C & c) -> auto& { return c.store.retention; }),
      key(
          "store.maxBytes", "64Mi", "How large the file may grow before the oldest samples go.",
          size(kMebibyte), [](C & c) -> auto& { return c.store.max_bytes; }),
      key(
          "store.journalPeriod", "1s", "How many seconds of samples a crash may cost.", duration(100ms, 1min),
          [](C & c) -> auto& { return c.store.journal_period; }),

      key(
          "cluster.kubeconfig", R"("")",
          "How to reach the API server. Not set: $KUBECONFIG, else the service account of the pod that the agent runs in.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.cluster.kubeconfig; }),
      key(
          "cluster.requestsPerSecond", "5", "Requests to the API server, on average at most.",
          integer(1, 1000), [](C & c) -> auto& { return c.cluster.requests_per_second; }),
      key(
          "cluster.burst", "10", "Requests to the API server at once.",
          integer(1, 1000), [](C & c) -> auto& { return c.cluster.burst; }),

      key(
          "state.source", "auto", "Where pods and containers are learnt from. auto takes what is there.",
          choice({StateSource::automatic, StateSource::kubelet, StateSource::apiserver, StateSource::file, StateSource::cgroup}),
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
          "state.kubelet.address", R"("")", "Of the kubelet. Not set: the internal address of the node.",
          any_text(), [](C & c) -> auto& { return c.state.kubelet.address; }),
      key(
          "state.kubelet.port", "0", "Of the kubelet. 0: the one that the node says.",
          integer(0, 65535), [](C & c) -> auto& { return c.state.kubelet.port; }),
      key(
          "state.kubelet.caFile", R"("")", "Who signed the certificate of the kubelet, in PEM. Not set: as that of the API server.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.state.kubelet.ca_file; }),
      key(
          "state.kubelet.serverName", R"("")", "Whom the certificate of the kubelet is for. Not set: its address.",
          any_text(), [](C & c) -> auto& { return c.state.kubelet.server_name; }),
      key(
          "state.kubelet.syncPeriod", "10s", "How often the kubelet is asked for its pods even when no cgroup came or went.",
          duration(1s, 1h), [](C & c) -> auto& { return c.state.kubelet.sync_period; }),
      key(
          "state.kubelet.timeout", "3s", "How long an answer of the kubelet may take.",
          duration(100ms, 1min), [](C & c) -> auto& { return c.state.kubelet.timeout; }),
      key(
          "state.apiserver.sloConfigMap", "koordinator-system/slo-controller-config",
          "namespace/name of the settings that the cluster makes NodeSLOs of, to explain where a value comes from. \"\": not read.",
          any_text(), [](C & c) -> auto& { return c.state.api_server.slo_config_map; }),
      key(
          "state.apiserver.volumes", "false", "Watch the claims of volumes, which limits of block I/O per volume need.",
          boolean(), [](C & c) -> auto& { return c.state.api_server.volumes; }),
      key(
          "state.cgroup.paths", "[]", "Further cgroups to observe, relative to the root of the hierarchy.",
          list_of(any_text()), [](C & c) -> auto& { return c.state.cgroup.paths; }),
      key(
          "state.podAnnotations", "[]",
          "Annotations of pods to keep for plugins that do not name them in their manifest: \"example.org/batch\", or all of a domain, "
          "\"example.org/*\". Others than these, Koordinator's and those of manifests are dropped while a list of pods is read.",
          list_of(any_text()), [](C & c) -> auto& { return c.state.pod_annotations; }),
      key(
          "state.resyncPeriod", "3s",
          "How often the source is read again even when nothing seems to have changed.", duration(100ms, 1h),
          [](C & c) -> auto& { return c.state.resync_period; }),

      key(
          "predict.enabled", "true", "Learn what pods and the node take at their peaks.",
          boolean(), [](C & c) -> auto& { return c.predict.enabled; }),
      key(
          "predict.directory", "/var/lib/koordetector/predictions",
          "Where what was learnt is kept. \"\": nowhere, it is learnt anew after each start.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.predict.directory; }),
      key(
          "predict.coldStart", "24h", "Of a younger pod nothing is held to be reclaimable.",
          duration(0s, 7 * kDay), [](C & c) -> auto& { return c.predict.cold_start; }),
      key(
          "predict.safetyMarginPercent", "10", "What is added to a peak.",
          integer(0, 1000), [](C & c) -> auto& { return c.predict.safety_margin_percent; }),
      key(
          "predict.cpuHalfLife", "12h", "After which a sample of CPU counts half.",
          duration(1min, 30 * kDay), [](C & c) -> auto& { return c.predict.cpu_half_life; }),
      key(
          "predict.memoryHalfLife", "24h", "After which a sample of memory counts half.",
          duration(1min, 30 * kDay), [](C & c) -> auto& { return c.predict.memory_half_life; }),
      key(
          "predict.trainingPeriod", "1m", "How often is learnt, and over which time.",
          duration(10s, 1h), [](C & c) -> auto& { return c.predict.training_period; }),
      key(
          "predict.modelExpiry", "30m", "After which what was learnt of something that is gone is dropped.",
          duration(1min, 7 * kDay), [](C & c) -> auto& { return c.predict.model_expiry; }),
      key(
          "predict.checkpointPeriod", "10m", "How often what was learnt of one pod is written down.",
          duration(1min, kDay), [](C & c) -> auto& { return c.predict.checkpoint_period; }),

      key(
          "report.nodeMetric", "true", "Write the status of the NodeMetric of this node.",
          boolean(), [](C & c) -> auto& { return c.report.node_metric; }),
      key(
          "report.createNodeMetric", "false", "Create the NodeMetric where the manager of Koordinator does not.",
          boolean(), [](C & c) -> auto& { return c.report.create_node_metric; }),
      key(
          "report.changeThresholdPercent", "5", "A smaller change of what was reported last waits for the heartbeat.",
          integer(0, 100), [](C & c) -> auto& { return c.report.change_threshold_percent; }),
      key(
          "report.heartbeat", "1m",
          "How old a reported status gets at most, changed or not. At most half of the shortest nodeMetricExpirationSeconds of the cluster's "
          "schedulers and deschedulers (180 by default).",
          duration(30s, 15min), [](C & c) -> auto& { return c.report.heartbeat; }),
      key(
          "report.topology", "true", "Write the NodeResourceTopology of this node.",
          boolean(), [](C & c) -> auto& { return c.report.topology; }),
      key(
          "report.devices", "false", "Write the Device of this node: its GPUs and RDMA adapters.",
          boolean(), [](C & c) -> auto& { return c.report.devices; }),

      key(
          "qos.mode", "shadow",
          "What becomes of what strategies propose, unless one has a mode of its own: off: nothing; shadow: it is told and not written.",
          strategy_mode(), [](C & c) -> auto& { return c.qos.mode; }),
      key(
          "qos.onExit", "restore",
          "Whether knobs get back what they had when the agent ends; keep: the next start goes on with them, as in a roll-out.",
          choice({OnExit::restore, OnExit::keep}), [](C & c) -> auto& { return c.qos.on_exit; }),
      key(
          "qos.directory", "/var/lib/koordetector/qos",
          "Where is kept what knobs were before, and what was decided. \"\": nowhere, and no knob is written.",
          absolute_path_or_empty(), [](C & c) -> auto& { return c.qos.directory; }),
      key(
          "qos.refreshPeriod", "60s", "How long at most a knob that was written is not read again when nothing is new.",
          duration(1s, 1h), [](C & c) -> auto& { return c.qos.refresh_period; }),
      key(
          "qos.maxWritesPerSecond", "2000", "Writes to the kernel, on average at most; what is given back is not held up.",
          integer(1, 1'000'000), [](C & c) -> auto& { return c.qos.max_writes_per_second; }),
      key(
          "qos.maxRecordBytes", "32Mi", "How large the file of decisions may grow before the oldest go.",
          size(kMebibyte), [](C & c) -> auto& { return c.qos.max_record_bytes; }),

      key(
          "evict.tier", "api",
          "api: pods are evicted through the API server; runtime: their containers are killed, too, where that is refused under pressure.",
          choice({EvictionTier::api, EvictionTier::runtime}), [](C & c) -> auto& { return c.evict.tier; }),
      key(
          "evict.mostPods", "5", "Pods evicted in a window at most.", integer(1, 1000),
          [](C & c) -> auto& { return c.evict.most_pods; }),
      key(
          "evict.window", "5m", "See evict.mostPods and evict.brakePercent.", duration(10s, kDay),
          [](C & c) -> auto& { return c.evict.window; }),
      key(
          "evict.brakePercent", "30",
          "When more than this share of the node's pods, and more than 5, are picked in a window, none is evicted for evict.brakePeriod.",
          integer(1, 100), [](C & c) -> auto& { return c.evict.brake_percent; }),
      key(
          "evict.brakePeriod", "30m", "How long evictions are only recorded, not done, while the brake holds.",
          duration(1min, kDay), [](C & c) -> auto& { return c.evict.brake_period; }),
      key(
          "evict.pendingPeriod", "2m", "How long what an evicted pod uses counts as released while it still ends.",
          duration(10s, 1h), [](C & c) -> auto& { return c.evict.pending_period; }),
      key(
          "evict.runtimePressurePercent", "20",
          "Time in which all tasks of the node wait for memory, of 10 s, from which on the tier runtime may kill.",
          integer(1, 100), [](C & c) -> auto& { return c.evict.runtime_pressure_percent; }),

      key(
          "workers", "4", "Threads that run plugins.", integer(1, 64),
          [](C & c) -> auto& { return c.workers; }),
  };
}

Schema<PluginSettings> make_plugin_schema() {
  using P = PluginSettings;
  return {
      plugin_key(
          "period", "", "Time between two calls. Not set: the plugin's own.", optional(duration(10ms, kDay)),
          [](P & p) -> auto& { return p.period; }),
      plugin_key(
          "deadline", "", "How long a call may take. Not set: from the period; 500ms for a runtime hook.",
          optional(duration(1ms, kDay)), [](P & p) -> auto& { return p.deadline; }),
      plugin_key(
          "required", "false", "The agent is not ready while this plugin does not run.", boolean(),
          [](P & p) -> auto& { return p.required; }),
      plugin_key(
          "isolation", "auto", "Where it runs: in the agent or in a child. auto: by its origin.",
          choice({Isolation::automatic, Isolation::in_process, Isolation::process}),
          [](P & p) -> auto& { return p.isolation; }),
      plugin_key(
          "mode", "", "What becomes of what a strategy proposes. Not set: qos.mode.", optional(strategy_mode()),
          [](P & p) -> auto& { return p.mode; }),
      plugin_key(
          "onTimeout", "ignore",
          "When a runtime hook fails or misses its deadline: go on without it, or fail the runtime's request.",
          choice({OnTimeout::ignore, OnTimeout::fail}), [](P & p) -> auto& { return p.on_timeout; }),
      plugin_key(
          "maxSeries", "20000", "How many series it may have; further ones are added up as 'other'.",
          integer(1, 10'000'000), [](P & p) -> auto& { return p.max_series; }),
      plugin_key(
          "maxMemory", "128Mi", "Memory of its process, when it has one of its own; more ends the process.",
          size(4 << 20), [](P & p) -> auto& { return p.max_memory; }),
      plugin_key(
          "maxCpu", "500m", "Cores that it may use; near that it ticks slower. A process of its own cannot use more.", cpu(10),
          [](P & p) -> auto& { return p.max_cpu_millis; }),
      plugin_key(
          "maxThreads", "64", "Threads and processes that its process may have, when it has one of its own.",
          integer(4, 100'000), [](P & p) -> auto& { return p.max_processes; }),
      plugin_key(
          "capabilities", "[]",
          "Kernel capabilities that its process keeps, when it has one of its own, such as CAP_BPF; it has no others.",
          capabilities(), [](P & p) -> auto& { return p.capabilities; }),
      plugin_key(
          "files", "[]",
          "Files that koord.fs/1 reads for it beyond those for every plugin, as 'run/acme/state.json': proc, sys, cgroup, resctrl or run first; "
          "'*' is any one part of a path, '**' at the end all below.",
          list_of(granted_file()), [](P & p) -> auto& { return p.files; }),
      plugin_key(
          "cgroups", "[]",
          "Cgroups beyond those of pods that it may propose for as a strategy, with all below them; '/' is the root alone.",
          list_of(granted_cgroup()), [](P & p) -> auto& { return p.cgroups; }),
      plugin_key(
          "network", "[]",
          "Sockets that its process may make, when it has one of its own: unix, tcp, udp, netlink; it makes no others.",
          network_families(), [](P & p) -> auto& { return p.network; }),
      plugin_key(
          "readPaths", "[]",
          "Files and directories that a third party's process may read beside /usr, /proc, /sys and what libc needs of /etc.",
          list_of(absolute_path()), [](P & p) -> auto& { return p.read_paths; }),
      plugin_key(
          "writePaths", "[]", "Files, devices and directories that a third party's process may write beside its state directory.",
          list_of(absolute_path()), [](P & p) -> auto& { return p.write_paths; }),
      plugin_key(
          "sha256", R"("")", "Digest that its file must have, as sha256sum prints it.", sha256_or_empty(),
          [](P & p) -> auto& { return p.sha256; }),
      plugin_key(
          "config", "{}", "Handed to the plugin, which says what it understands.", mapping_as_json(),
          [](P & p) -> auto& { return p.config_json; }),
  };
}

}  // namespace

const Schema<Config>& config_schema() {
  static const Schema<Config> schema = make_config_schema();
  return schema;
}

const Schema<PluginSettings>& plugin_schema() {
  static const Schema<PluginSettings> schema = make_plugin_schema();
  return schema;
}

}  // namespace koord::config
