// SPDX-License-Identifier: Apache-2.0
#include "core/child/landlock.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>

namespace koord::child {
namespace {

// Definitions of the kernel's ABI. Older kernel headers have only some of them.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr unsigned kAskForVersion = 1;
constexpr int kPathBeneath = 1;

struct RulesetAttributes {
  std::uint64_t files = 0;    // actions that are denied unless a rule allows them
  std::uint64_t network = 0;  // since ABI 4
  std::uint64_t scopes = 0;   // since ABI 6
};

struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};

enum : std::uint64_t {
  kExecute = 1 << 0,
  kWriteFile = 1 << 1,
  kReadFile = 1 << 2,
  kReadDirectory = 1 << 3,
  kMakeCharacterDevice = 1 << 6,
  kMakeBlockDevice = 1 << 11,
  kAllOfFirstAbi = (1 << 13) - 1,
  kRefer = 1 << 13,
  kTruncate = 1 << 14,
  kDeviceIoctl = 1 << 15,
  kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kDeviceIoctl,
  kBindAndConnectTcp = 3,
  kAbstractSockets = 1,
  kSignals = 2,
};

constexpr std::uint64_t kRead = kExecute | kReadFile | kReadDirectory;

// Programs, libraries and the files of /etc that libc reads; also /proc and /sys.
constexpr const char* kReadable[] = {
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/proc",
    "/sys",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/nsswitch.conf",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/passwd",
    "/etc/group",
    "/etc/os-release",
    "/etc/machine-id",
    "/etc/hostname",
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
    "/etc/ca-certificates",
    "/etc/alternatives",
    "/dev/random",
    "/dev/urandom",
};
constexpr const char* kReadableAndWritable[] = {"/dev/null", "/dev/zero", "/dev/full"};

std::uint64_t files_of(unsigned abi) {
  std::uint64_t files = kAllOfFirstAbi;
  if (abi >= 2) files |= kRefer;
  if (abi >= 3) files |= kTruncate;
  if (abi >= 5) files |= kDeviceIoctl;
  return files;
}

std::size_t size_of_attributes(unsigned abi) { return sizeof(std::uint64_t) * (abi >= 6 ? 3 : abi >= 4 ? 2 : 1); }

// Allows these actions below the path. A missing path needs no rule.
Result<void> allow(int ruleset, const std::string& path, std::uint64_t actions) {
  const UniqueFd opened(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!opened) return {};
  struct stat about;
  if (::fstat(opened.get(), &about) != 0) return system_error(errno, "'" + path + "'");
  PathBeneath rule;
  rule.allowed = S_ISDIR(about.st_mode) ? actions : actions & kOfFiles;
  rule.parent = opened.get();
  if (::syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) != 0)
    return system_error(errno, "Landlock rule of '" + path + "'");
  return {};
}

}  // namespace

Result<unsigned> landlock_abi() {
  const long abi = ::syscall(kCreateRuleset, nullptr, 0, kAskForVersion);
  if (abi > 0) return std::min(static_cast<unsigned>(abi), kNewestLandlockAbi);
  const int error = errno;
  if (error == EOPNOTSUPP) return invalid("off; boot with lsm=landlock,…");
  // landlock_create_ruleset itself never returns EPERM, so this error comes from a seccomp profile. Container runtimes
  // return ENOSYS for system calls that are newer than their profile.
  if (error == EPERM)
    return invalid("the seccomp profile of the agent's container or unit forbids landlock_create_ruleset");
  if (error != ENOSYS) return system_error(error, "landlock_create_ruleset");
  std::string why = "the kernel was built without CONFIG_SECURITY_LANDLOCK, or is older than Linux 5.13";
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER)
    why += ", or the seccomp profile of the agent's container or unit forbids landlock_create_ruleset";
  return invalid(why);
}

Result<LandlockRules> LandlockRules::make(const LaunchSpec& spec) {
  const unsigned abi = spec.landlock_abi;
  RulesetAttributes attributes{.files = files_of(abi)};
  if (abi >= 4 && (spec.network & kNetworkTcp) == 0) attributes.network = kBindAndConnectTcp;
  // The scope for signals would block them even for a plugin with CAP_KILL.
  const bool may_signal = (spec.capabilities >> CAP_KILL & 1) != 0;
  if (abi >= 6) attributes.scopes = may_signal ? kAbstractSockets : kAbstractSockets | kSignals;
  UniqueFd ruleset(static_cast<int>(::syscall(kCreateRuleset, &attributes, size_of_attributes(abi), 0)));
  if (!ruleset) return system_error(errno, "Landlock ABI " + std::to_string(abi));
  const std::uint64_t all = attributes.files & ~(kMakeCharacterDevice | kMakeBlockDevice);
  for (const char* path : kReadable) TRY(allow(ruleset.get(), path, kRead));
  for (const char* path : kReadableAndWritable) TRY(allow(ruleset.get(), path, all));
  for (const std::string& path : spec.readable) TRY(allow(ruleset.get(), path, kRead));
  for (const std::string& path : spec.writable) TRY(allow(ruleset.get(), path, all));
  if (!spec.state_directory.empty()) TRY(allow(ruleset.get(), spec.state_directory, all));
  return LandlockRules(std::move(ruleset));
}

Result<void> LandlockRules::enforce() const {
  if (::syscall(kRestrictSelf, ruleset_.get(), 0) != 0) return system_error(errno, "landlock_restrict_self");
  return {};
}

}  // namespace koord::child
