// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/options.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "core/agentd/process.hpp"
#include "core/base/parse.hpp"
#include "core/child/child_runner.hpp"

namespace koord::agentd {
namespace {

// Returns the configured directory, or a directory beside the metric cache.
std::string plugin_state_directory(const config::Config& config) {
  if (!config.plugins.state_directory.empty() || config.store.path.empty()) return config.plugins.state_directory;
  return std::filesystem::path(config.store.path).parent_path() / "plugin-state";
}

}  // namespace

store::Options store_options(const config::StoreSettings& settings) {
  store::Options options;
  options.path = settings.path;
  options.retention = settings.retention;
  options.max_bytes = settings.max_bytes;
  options.journal_period = settings.journal_period;
  return options;
}

// At most half of the limit of open files is for cgroup files, and a quarter for directories. Sockets, the store and
// plugins need descriptors, too.
cgroup::Reader::Options reader_options(const config::CgroupSettings& settings) {
  const std::size_t limit = open_files_limit();
  cgroup::Reader::Options options;
  options.kept_files = std::min<std::size_t>(settings.kept_files, limit / 2);
  options.kept_directories = limit / 4;
  options.costly_period = settings.memory_stat_period;
  return options;
}

Duration pods_are_old_after(const config::Config& config) {
  return std::max<Duration>(std::chrono::minutes(2), 3 * config.state.kubelet.sync_period);
}

// Returns small limits, because the kubelet sends few requests. Connections of other clients are closed first.
http::Limits probe_limits() {
  http::Limits limits;
  limits.connections = 32;
  limits.connections_of_peer = 8;
  limits.connections_of_network = 16;
  limits.send_buffer_bytes = 16 << 10;
  limits.idle = std::chrono::seconds(15);
  limits.read = limits.write = std::chrono::seconds(3);
  return limits;
}

// KOORD_LANDLOCK_ABI is for tests. If it is set, the agent assumes this ABI.
child::Layers::Options layer_options(const config::Config& config) {
  const NodeRoots& roots = config.roots;
  child::Layers::Options options{.state_directory = plugin_state_directory(config),
                                 .first_uid = static_cast<std::uint32_t>(config.plugins.first_uid),
                                 .uids = static_cast<std::uint32_t>(config.plugins.uids),
                                 .readable = {roots.proc, roots.sys, roots.cgroup, roots.resctrl}};
  if (const char* abi = std::getenv("KOORD_LANDLOCK_ABI"))
    options.newest_landlock_abi = static_cast<unsigned>(parse_uint(abi).value_or(child::kNewestLandlockAbi));
  return options;
}

host::Loader child_loader(const std::string& configured, child::SnapshotImages& images, const cgroup::Layout& layout,
                          child::Layers& layers) {
  return [program = child::plugin_host_program(configured), &images, &layout, &layers](
             const std::string& path, const load::Manifest& manifest, const FileVersion& checked,
             const host::RunnerLimits& limits) {
    return child::load_in_child({program, images, &layout, &layers}, path, manifest, checked, limits);
  };
}

}  // namespace koord::agentd
