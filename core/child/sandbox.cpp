// SPDX-License-Identifier: Apache-2.0
#include "core/child/sandbox.hpp"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "core/base/file.hpp"
#include "core/child/landlock.hpp"
#include "core/child/system_calls.hpp"

namespace koord::child {
namespace {

constexpr rlim_t kMaxFiles = 1024;
// A lower limit would break long messages to the host, which are memory files.
constexpr rlim_t kLeastFileLimit = 16 << 20;
// One byte prevents a core file and also the core handler. With a limit of 0 the kernel still starts the core handler
// (core(5)).
constexpr rlim_t kMaxCore = 1;

Result<void> no_new_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error(errno, "no_new_privs");
  return {};
}

// Drops all other capabilities from the bounding set. This needs a capability itself, so it is the first step.
void drop_from_bounding_set(CapabilityMask allowed) {
  for (unsigned capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability)
    if ((allowed >> capability & 1) == 0) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

Result<CapabilityMask> keep_capabilities(CapabilityMask allowed) {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  const CapabilitySets before = TRY(read_capability_sets());
  const CapabilityMask kept = before.permitted & allowed;
  TRY(write_capability_sets({.effective = kept, .permitted = kept, .inheritable = kept}));
  return kept;
}

// Makes started programs keep the capabilities. Programs that root starts get root's capabilities; for any other user
// they need to be ambient.
void hand_on_capabilities(CapabilityMask kept) {
  for (unsigned capability = 0; capability < 64; ++capability)
    if ((kept >> capability & 1) != 0) ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
}

Result<void> become_user(std::uint32_t id) {
  if (::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) return system_error(errno, "capabilities of another user");
  const std::string name = "user " + std::to_string(id);
  if (::setgroups(0, nullptr) != 0 || ::setresgid(id, id, id) != 0 || ::setresuid(id, id, id) != 0)
    return system_error(errno, name);
  return {};
}

Result<void> limit_one(int resource, rlim_t most, const char* shown) {
  const rlimit limit{most, most};
  if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return system_error(errno, shown);
  return {};
}

Result<void> limit_resources(const LaunchSpec& spec) {
  TRY(limit_one(RLIMIT_NOFILE, kMaxFiles, "limit of open files"));
  TRY(limit_one(RLIMIT_CORE, kMaxCore, "limit of core files"));
  if (spec.memory_bytes > 0) TRY(limit_one(RLIMIT_DATA, spec.memory_bytes, "limit of memory"));
  if (spec.uid != 0 && spec.processes > 0) TRY(limit_one(RLIMIT_NPROC, spec.processes, "limit of processes"));
  return {};
}

// Makes the OOM killer choose the plugin before the agent if the node's memory is short.
void offer_as_victim() {
  // Without /proc the write fails, which is harmless.
  [[maybe_unused]] Result<void> written = write_value("/proc/self/oom_score_adj", "500");
}

// Enters the state directory. The agent may lack access to a directory of another user, and that user may lack access
// to the parent directories. So both users try it, before and after the change of the user.
Result<bool> enter_state_directory(const std::string& directory, bool is_last_try) {
  if (directory.empty()) return true;
  if (::chdir(directory.c_str()) != 0) {
    if (is_last_try) return system_error(errno, "state directory '" + directory + "'");
    return false;
  }
  for (const char* name : {"KOORD_STATE_DIRECTORY", "HOME", "TMPDIR"}) ::setenv(name, directory.c_str(), 1);
  return true;
}

// Protects this process from others and asks for SIGKILL at the agent's end, which a change of the user clears. Tools
// of plugin authors start a child without its own user and without Landlock. They may inspect the process.
void close_to_others(const LaunchSpec& spec) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (spec.uid != 0 || spec.landlock_abi > 0) ::prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace

Result<void> limit_files(const LaunchSpec& spec) {
  if (spec.file_bytes == 0) return {};
  return limit_one(RLIMIT_FSIZE, std::max<rlim_t>(spec.file_bytes, kLeastFileLimit), "limit of file sizes");
}

Result<CapabilityMask> enter_sandbox(const LaunchSpec& spec) {
  offer_as_victim();
  TRY(no_new_privileges());
  TRY(limit_resources(spec));
  const bool entered = TRY(enter_state_directory(spec.state_directory, false));
  std::optional<LandlockRules> rules;
  if (spec.landlock_abi > 0) rules = TRY(LandlockRules::make(spec));
  drop_from_bounding_set(spec.capabilities);
  if (spec.uid != 0) TRY(become_user(spec.uid));
  if (!entered) TRY(enter_state_directory(spec.state_directory, true));
  const CapabilityMask kept = TRY(keep_capabilities(spec.capabilities));
  if (spec.uid != 0) hand_on_capabilities(kept);
  close_to_others(spec);
  if (rules) TRY(rules->enforce());
  // Landlock has no rule for file modes, so root could change the mode of root's files even without capabilities.
  const bool is_owner_of_node = spec.landlock_abi > 0 && spec.uid == 0;
  TRY(filter_system_calls(kept, spec.network, is_owner_of_node ? FileAttributes::closed : FileAttributes::open));
  return kept;
}

}  // namespace koord::child
