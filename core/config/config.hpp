// SPDX-License-Identifier: Apache-2.0
// The agent's configuration, typed. Every member is filled by core/config/load.hpp from the file, the
// overrides and the defaults of core/config/schema.cpp, the one place that names the keys (camelCase there,
// snake_case here). Immutable once loaded. [any thread]
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/linux_capability.hpp"
#include "core/base/mode.hpp"
#include "core/base/network_families.hpp"
#include "core/base/node_roots.hpp"
#include "core/config/feature_gates.hpp"
#include "core/log/log.hpp"

namespace koord::config {

struct LogSettings {
  log::Level level = log::Level::info;
  log::Format format = log::Format::text;
};

// Which clients of the metrics port are served.
enum class Authorization : std::uint8_t { none, kubernetes };

struct ListenSettings {
  // TLS of the metrics port. Files in PEM.
  struct Tls {
    std::string certificate_file, key_file;  // "" = plain HTTP
    std::string client_ca_file;              // authorities of clients; "" = no certificates are requested
    Authorization authorization = Authorization::none;

    bool operator==(const Tls&) const = default;
  };
  Tls tls;
  std::string metrics;       // host:port, "" = off
  std::string probes;        // host:port, "" = off
  std::string socket;        // absolute path of the data API's unix socket, "" = off
  std::string socket_group;  // may use it beside root; "" = no group
};

enum class Isolation : std::uint8_t { automatic, in_process, process };

// The proof that a plugin's file needs before it is mapped. An existing pin or signature must be right in each mode;
// the mode says which of them is required.
enum class Trust : std::uint8_t { any, pinned, signature };

// Our values when the agent ends: reverted to the kernel's own, or kept for the next start.
enum class OnExit : std::uint8_t { restore, keep };

// The way to end a pod: through the API server, which may refuse; or in the end also through the container runtime,
// which does not.
enum class EvictionTier : std::uint8_t { api, runtime };

// Result of a container runtime's request when a hook does not answer.
enum class OnTimeout : std::uint8_t { ignore, fail };

// One plugin's settings; whether it runs is its feature gate's matter.
// Layers that confine a plugin in a process of its own: a user of its own, rules for files, a filter of system calls,
// limits.
enum class IsolationLayer : std::uint8_t { uid, landlock, seccomp, cgroup };
inline constexpr std::array kIsolationLayers{IsolationLayer::uid, IsolationLayer::landlock, IsolationLayer::seccomp,
                                             IsolationLayer::cgroup};

struct PluginSettings {
  std::optional<Duration> period;    // nullopt: the plugin's own
  std::optional<Duration> deadline;  // nullopt: the host's rule
  bool required = false;             // the agent is not ready without it
  Isolation isolation = Isolation::automatic;
  std::optional<Mode> mode;  // nullopt: qos.mode
  OnTimeout on_timeout = OnTimeout::ignore;
  std::uint64_t max_series = 0;
  std::uint64_t max_scrape_memory = 0;  // of the agent, for the scrapes of a third party; 0: no limit
  // limit of a plugin's own process; 0: none
  std::uint64_t max_state = 0;  // bytes of a third party's state directory
  std::uint64_t max_memory = 0;
  std::uint64_t max_cpu_millis = 0;
  std::uint64_t max_processes = 0;
  CapabilityMask capabilities = 0;
  std::vector<std::string> files;    // that koord.fs/1 reads for it beyond those for every plugin
  std::vector<std::string> cgroups;  // that it may propose for beyond those of pods
  NetworkMask network = 0;
  std::vector<std::string> read_paths, write_paths;
  std::vector<std::string> hook_fields;  // "device", "mount": that a third party's hook may set
  std::string sha256;                    // of its file, 64 lower-case digits; "" = not pinned
  std::string config_json;               // the plugin's own `config` mapping as one JSON object
};

struct PluginsSettings {
  std::vector<std::string> own_directories;  // of the host's own plugins
  std::vector<std::string> directories;
  std::string child_program;  // "" = koord-plugin-host beside the agent
  Trust trust = Trust::any;
  std::vector<std::string> trusted_keys;  // PEM files
  std::uint64_t first_uid = 0, uids = 0;  // users of plugins in processes of their own; 0: they have the agent's
  std::string state_directory;            // "" = beside store.path
  std::vector<IsolationLayer> minimum_isolation;
  std::uint64_t cpu_budget_millis = 0;  // of the agent and all plugins; 0: none
  std::map<std::string, PluginSettings, std::less<>> settings;
  PluginSettings defaults;

  // The settings of this plugin, the defaults when the configuration does not name it.
  const PluginSettings& of(std::string_view id) const;
};

struct CgroupSettings {
  Duration memory_stat_period{};
  std::uint64_t kept_files = 0;  // at most
};

struct StoreSettings {
  std::string path;  // "" = in memory only
  Duration retention{};
  std::uint64_t max_bytes = 0;
  Duration journal_period{};
};

// kubelet: the pods from the kubelet, all else from the API server; apiserver: everything from there.
enum class StateSource : std::uint8_t { automatic, kubelet, apiserver, file, cgroup };

// How the API server is reached.
struct ClusterSettings {
  std::string kubeconfig;  // "": $KUBECONFIG, else the service account of the agent's pod
  std::uint64_t requests_per_second = 0;
  std::uint64_t burst = 0;
};

struct StateSettings {
  struct File {
    std::string pods;
    std::string node;
    std::string node_slo;
  };
  struct Cgroup {
    std::vector<std::string> paths;
  };
  struct Kubelet {
    std::string address;      // "": the node's internal address
    std::uint64_t port = 0;   // 0: the one that the node says
    std::string ca_file;      // "": as the API server's
    std::string server_name;  // name in its certificate; "": the address
    Duration sync_period{};
    Duration timeout{};
  };
  struct ApiServer {
    std::string slo_config_map;  // "namespace/name" of the cluster's NodeSLO settings, to explain them; "": not read
    bool volumes = false;        // watch claims, for block I/O limits of pods' volumes
  };

  StateSource source = StateSource::automatic;
  Kubelet kubelet;
  ApiServer api_server;
  File file;
  Cgroup cgroup;
  Duration resync_period{};
  std::vector<std::string> pod_annotations;  // kept beside those that the agent and its plugins read
};

// The kinds of subjects with series on /metrics: each level has those of the level before, too. container: no
// histograms of containers and none of the details that koord::agentd::exported() leaves out; all: everything.
enum class Detail : std::uint8_t { node, pod, container, all };

struct ExporterSettings {
  Detail detail = Detail::container;
  bool koordlet_names = false;
};

// Peak prediction, as koordlet's flags of the same meaning.
struct PredictSettings {
  bool enabled = true;
  std::string directory;  // of checkpoints; "": none
  Duration cold_start{};
  std::uint64_t safety_margin_percent = 0;
  Duration cpu_half_life{};
  Duration memory_half_life{};
  Duration training_period{};
  Duration model_expiry{};
  Duration checkpoint_period{};
};

// Objects that are written to the API server.
// Reports to koord-manager, beside those to the API server.
struct DirectReportSettings {
  bool enabled = false;
  Duration period{};
  Duration window{};                 // of the averages
  std::string lease;                 // "namespace/name"
  std::string address;               // "" = that of the Lease's holder
  std::string server_name;           // "" = of the Lease's name
  std::string ca_file;               // "" = the API server's authorities
  bool replace_node_metric = false;  // koord-manager writes the NodeMetric

  bool operator==(const DirectReportSettings&) const = default;
};

struct ReportSettings {
  bool node_metric = true;
  bool create_node_metric = false;             // where nothing else creates it
  std::uint64_t change_threshold_percent = 0;  // a smaller change waits for the heartbeat
  Duration heartbeat{};
  bool topology = true;  // NodeResourceTopology
  bool devices = false;  // Device
  DirectReportSettings direct;
};

// Knobs: permissions of strategies, and storage of originals and decisions.
struct QosSettings {
  Mode mode = Mode::shadow;
  OnExit on_exit = OnExit::restore;
  std::string directory;  // of original values and decisions; "": none, and nothing is written
  Duration refresh_period{};
  std::uint64_t max_writes_per_second = 0;
  std::uint64_t max_record_bytes = 0;
};

// Evictions of the whole node, whichever strategy asks for them.
struct EvictSettings {
  EvictionTier tier = EvictionTier::api;
  std::uint64_t most_pods = 0;  // in a window
  Duration window{};
  std::uint64_t brake_percent = 0;  // of the node's pods in a window: if more are requested, no pod is evicted
  Duration brake_period{};
  Duration pending_period{};  // how long a pod counts as gone after its eviction was requested
  std::uint64_t runtime_pressure_percent = 0;
};

// Runtime hooks, asked by a container runtime.
struct HookConfig {
  std::string nri_socket;       // "": none asks
  std::uint64_t nri_index = 0;  // the place among the runtime's NRI plugins
  Duration deadline{};          // of the answer to the runtime

  bool operator==(const HookConfig&) const = default;
};

struct Config {
  std::string node_name;
  NodeRoots roots;
  LogSettings log;
  ListenSettings listen;
  ExporterSettings exporter;
  GateMap feature_gates;
  CgroupSettings cgroup;
  PluginsSettings plugins;
  StoreSettings store;
  ClusterSettings cluster;
  StateSettings state;
  PredictSettings predict;
  ReportSettings report;
  QosSettings qos;
  EvictSettings evict;
  HookConfig hooks;
  std::uint64_t workers = 0;
};

std::string_view to_string(Isolation isolation);
std::string_view to_string(IsolationLayer layer);
std::string_view to_string(Detail detail);
std::string_view to_string(StateSource source);
std::string_view to_string(OnExit what);
std::string_view to_string(EvictionTier tier);
std::string_view to_string(OnTimeout policy);
std::string_view to_string(Authorization authorization);
std::string_view to_string(Trust trust);

}  // namespace koord::config
