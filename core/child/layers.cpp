// SPDX-License-Identifier: Apache-2.0
#include "core/child/layers.hpp"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/base/file.hpp"
#include "core/base/linux_capability.hpp"
#include "core/base/parse.hpp"
#include "core/child/state_size.hpp"
#include "core/child/unnamed_files.hpp"

namespace koord::child {
namespace {

using config::IsolationLayer;
using service::CapabilityState;

// Returns whether these users exist, because a user namespace may have only some users. Lines of uid_map: "first-inside
// first-outside count".
bool users_exist(std::uint64_t first, std::uint64_t count) {
  const std::string map = read_file("/proc/self/uid_map").value_or("");
  std::string_view rest = map;
  while (auto line = next_field(rest, '\n')) {
    std::string_view words = *line;
    std::uint64_t numbers[3] = {};
    for (std::uint64_t& number : numbers) number = parse_uint(next_word(words).value_or("")).value_or(0);
    if (numbers[0] <= first && first + count <= numbers[0] + numbers[2]) return true;
  }
  return false;
}

std::string find_uid_problem(const Layers::Options& options) {
  if (options.uids == 0) return "plugins.uids.count is 0";
  constexpr CapabilityMask kNeeded =
      CapabilityMask{1} << CAP_SETUID | CapabilityMask{1} << CAP_SETGID | CapabilityMask{1} << CAP_KILL;
  if (const CapabilityMask lacking = kNeeded & ~read_capability_sets().value_or({}).effective; lacking != 0)
    return "the agent lacks " + format_capabilities(lacking);
  if (!users_exist(options.first_uid, options.uids)) return "the agent's user namespace lacks users of plugins.uids";
  return {};
}

Result<unsigned> find_landlock(unsigned newest) {
  if (newest == 0) return not_found("switched off for a test");
  return std::min(TRY(landlock_abi()), newest);
}

service::Capability tracefs_capability() {
  struct stat about;
  for (const char* path : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
    if (::stat(path, &about) == 0 && (about.st_mode & S_IXOTH) != 0)
      return {"plugin_tracefs", CapabilityState::supported, path, {}};
  return {"plugin_tracefs",
          CapabilityState::absent,
          "readable for root alone: a plugin with a user of its own needs CAP_DAC_READ_SEARCH beside CAP_PERFMON",
          {}};
}

std::string shown_landlock(unsigned abi) {
  std::string shown = "ABI " + std::to_string(abi) + ": files";
  if (abi >= 4) shown += ", TCP";
  if (abi >= 6) shown += ", signals, abstract sockets";
  return shown;
}

}  // namespace

Launch launch_without_layers(const host::RunnerLimits& limits) {
  Launch launch;
  launch.spec.capabilities = limits.capabilities;
  launch.spec.network = limits.network;
  launch.level.capabilities = limits.capabilities;
  launch.level.missing[IsolationLayer::uid] = launch.level.missing[IsolationLayer::landlock] =
      "only plugins of third parties have this layer";
  return launch;
}

Layers::Layers(Options options)
    : options_(std::move(options)),
      uids_(options_.state_directory, options_.first_uid, options_.uids),
      uid_problem_(find_uid_problem(options_)),
      landlock_(find_landlock(options_.newest_landlock_abi)) {}

std::vector<service::Capability> Layers::capabilities() const {
  service::Capability uid{
      "plugin_uid",
      CapabilityState::supported,
      "from " + std::to_string(options_.first_uid) + " on, " + std::to_string(options_.uids) + " users",
      {}};
  if (!uid_problem_.empty()) uid = {"plugin_uid", CapabilityState::absent, uid_problem_, {}};
  service::Capability landlock{"landlock", CapabilityState::absent, {}, {}};
  if (landlock_) {
    landlock = {"landlock", CapabilityState::supported, shown_landlock(*landlock_), {}};
  } else {
    landlock.detail = landlock_.error().message();
  }
  return {uid, landlock, tracefs_capability()};
}

Result<std::uint64_t> Layers::state_size(const std::string& plugin_id, const std::vector<std::int32_t>& processes,
                                         std::uint64_t enough) const {
  const auto user = uids_.known(plugin_id);
  if (!user) return 0;
  const std::uint64_t named = TRY(child::state_size(user->directory, user->uid, enough));
  struct stat about;
  if (named > enough || ::stat(user->directory.c_str(), &about) != 0) return named;
  // Without `processes`, counts all processes of the user, because the plugin has no cgroup.
  const std::vector<std::int32_t> of_user =
      processes.empty() ? processes_of_user(user->uid) : std::vector<std::int32_t>();
  return named + unnamed_size(processes.empty() ? of_user : processes, about.st_dev, enough - named);
}

std::optional<std::uint64_t> Layers::state_space() const {
  struct statvfs about;
  if (options_.state_directory.empty() || ::statvfs(options_.state_directory.c_str(), &about) != 0) return std::nullopt;
  return std::uint64_t{about.f_bfree} * about.f_frsize;
}

Result<Launch> Layers::launch(const std::string& plugin_id, const std::string& path, const host::RunnerLimits& limits) {
  Launch launch = launch_without_layers(limits);
  if (!limits.third_party) return launch;
  launch.level.missing.clear();
  LaunchSpec& spec = launch.spec;
  if (uid_problem_.empty()) {
    PluginUser user = TRY(uids_.user_of(plugin_id));
    spec.uid = user.uid;
    spec.state_directory = std::move(user.directory);
    spec.file_bytes = limits.state_bytes;
    launch.problem = std::move(user.problem);
  } else {
    launch.level.missing[IsolationLayer::uid] = uid_problem_;
  }
  if (!landlock_) {
    launch.level.missing[IsolationLayer::landlock] = landlock_.error().message();
  } else if ((limits.capabilities >> CAP_SYS_PTRACE & 1) != 0) {
    launch.level.missing[IsolationLayer::landlock] = "CAP_SYS_PTRACE is granted, which Landlock would make void";
  } else {
    spec.landlock_abi = *landlock_;
  }
  spec.readable = options_.readable;
  spec.readable.push_back(std::filesystem::path(path).parent_path().string());
  spec.readable.insert(spec.readable.end(), limits.readable.begin(), limits.readable.end());
  spec.writable = limits.writable;
  return launch;
}

}  // namespace koord::child
