// SPDX-License-Identifier: Apache-2.0
// The table of the keys of one plugin, below plugins.settings, in the order of the reference.
#include <chrono>
#include <string_view>
#include <utility>

#include "core/config/overrides.hpp"
#include "core/config/schema.hpp"

namespace koord::config {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongestPeriod = 24h;

template <class T, class Member>
Key<PluginSettings> plugin_key(std::string_view path, std::string_view default_value, std::string_view help,
                               ValueType<T> type, Member member) {
  return make_key<PluginSettings>(path, default_value, help, std::move(type), member);
}

Schema<PluginSettings> make_plugin_schema() {
  using P = PluginSettings;
  return {
      plugin_key(
          "period", "", "Time between two calls. Not set: the plugin's own.", optional(duration(10ms, kLongestPeriod)),
          [](P & p) -> auto& { return p.period; }),
      plugin_key(
          "deadline", "", "Timeout of a call. Not set: derived from the period; 500ms for a runtime hook.",
          optional(duration(1ms, kLongestPeriod)), [](P & p) -> auto& { return p.deadline; }),
      plugin_key(
          "required", "false", "Whether the agent is unready while this plugin does not run.", boolean(),
          [](P & p) -> auto& { return p.required; }),
      plugin_key(
          "isolation", "auto", "Isolation: inprocess in the agent, or a process of its own. auto: by its origin.",
          choice({Isolation::automatic, Isolation::in_process, Isolation::process}),
          [](P & p) -> auto& { return p.isolation; }),
      plugin_key(
          "mode", "", "Mode of this strategy: off, shadow or enforce. Not set: qos.mode.",
          optional(choice({Mode::off, Mode::shadow, Mode::enforce})), [](P & p) -> auto& { return p.mode; }),
      plugin_key(
          "onTimeout", "ignore",
          "Action if a runtime hook fails or misses its deadline: ignore goes on without it, fail fails the runtime's "
          "request. Default of hook-gpu and hook-rdma: fail.",
          choice({OnTimeout::ignore, OnTimeout::fail}), [](P & p) -> auto& { return p.on_timeout; }),
      plugin_key(
          "maxSeries", "20000", "Maximum number of series; further ones are added up as 'other'.",
          integer(1, 10'000'000), [](P & p) -> auto& { return p.max_series; }),
      plugin_key(
          "maxScrapeMemory", "4Mi",
          "Memory of the agent for all scrapes of a third-party external advisor: answers and their samples. A scrape beyond it "
          "fails.",
          size(64 << 10), [](P & p) -> auto& { return p.max_scrape_memory; }),
      plugin_key(
          "maxMemory", "128Mi", "Memory limit of its process, if it has one of its own; an excess ends the process.",
          size(4 << 20), [](P & p) -> auto& { return p.max_memory; }),
      plugin_key(
          "maxCpu", "500m", "CPU limit; near it the plugin ticks slower. A process of its own cannot exceed it.",
          cpu(10), [](P & p) -> auto& { return p.max_cpu_millis; }),
      plugin_key(
          "maxState", "64Mi",
          "Limit of a third party's state directory on disk, and of each file that its process writes; an excess ends the process.",
          size(1 << 20), [](P & p) -> auto& { return p.max_state; }),
      plugin_key(
          "maxThreads", "64", "Limit of threads and processes, if it has a process of its own.", integer(4, 100'000),
          [](P & p) -> auto& { return p.max_processes; }),
      plugin_key(
          "capabilities", "[]",
          "Kernel capabilities of its process, if it has one of its own, such as CAP_BPF; all others are dropped.",
          capabilities(), [](P & p) -> auto& { return p.capabilities; }),
      plugin_key(
          "files", "[]",
          "Additional files that koord.fs/1 reads for it, as 'run/acme/state.json': proc, sys, cgroup, resctrl or run "
          "first; '*' matches one part of a path, '**' at the end everything below.",
          list_of(granted_file()), [](P & p) -> auto& { return p.files; }),
      plugin_key(
          "cgroups", "[]",
          "Cgroups outside pods that it may propose for as a strategy, including all below them; '/' is the root only.",
          list_of(granted_cgroup()), [](P & p) -> auto& { return p.cgroups; }),
      plugin_key(
          "network", "[]",
          "Socket families allowed to its process, if it has one of its own: unix, tcp, udp, netlink; all others are "
          "denied.",
          network_families(), [](P & p) -> auto& { return p.network; }),
      plugin_key(
          "readPaths", "[]",
          "Files and directories that a third party's process may read, in addition to /usr, /proc, /sys and "
          "libc's files in /etc.",
          list_of(absolute_path()), [](P & p) -> auto& { return p.read_paths; }),
      plugin_key(
          "writePaths", "[]",
          "Files, devices and directories that a third party's process may write, "
          "in addition to its state directory.",
          list_of(absolute_path()), [](P & p) -> auto& { return p.write_paths; }),
      plugin_key(
          "hookFields", "[]",
          "Fields of containers that a third party's hook may set beside environment, annotations and cgroup values: "
          "device, mount. Each amounts to root on the node.",
          list_of(hook_field()), [](P & p) -> auto& { return p.hook_fields; }),
      plugin_key(
          "sha256", R"("")", "Required digest of its file, as printed by sha256sum.", sha256_or_empty(),
          [](P & p) -> auto& { return p.sha256; }),
      plugin_key(
          "config", "{}", "Configuration passed to the plugin; its keys are in the plugin's README.", mapping_as_json(),
          [](P & p) -> auto& { return p.config_json; }),
  };
}

}  // namespace

const Schema<PluginSettings>& plugin_schema() {
  static const Schema<PluginSettings> schema = make_plugin_schema();
  return schema;
}

}  // namespace koord::config
