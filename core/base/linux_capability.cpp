// SPDX-License-Identifier: Apache-2.0
#include "core/base/linux_capability.hpp"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/parse.hpp"

namespace koord {
namespace {

constexpr unsigned kWords = _LINUX_CAPABILITY_U32S_3;

CapabilityMask joined(std::uint32_t low, std::uint32_t high) { return low | CapabilityMask{high} << 32; }

}  // namespace

// The names in the order of linux/capability.h, which is part of the kernel's ABI. The first capability has number 0.
const std::vector<std::string>& linux_capability_names() {
  static const std::vector<std::string> names{"CAP_CHOWN",
                                              "CAP_DAC_OVERRIDE",
                                              "CAP_DAC_READ_SEARCH",
                                              "CAP_FOWNER",
                                              "CAP_FSETID",
                                              "CAP_KILL",
                                              "CAP_SETGID",
                                              "CAP_SETUID",
                                              "CAP_SETPCAP",
                                              "CAP_LINUX_IMMUTABLE",
                                              "CAP_NET_BIND_SERVICE",
                                              "CAP_NET_BROADCAST",
                                              "CAP_NET_ADMIN",
                                              "CAP_NET_RAW",
                                              "CAP_IPC_LOCK",
                                              "CAP_IPC_OWNER",
                                              "CAP_SYS_MODULE",
                                              "CAP_SYS_RAWIO",
                                              "CAP_SYS_CHROOT",
                                              "CAP_SYS_PTRACE",
                                              "CAP_SYS_PACCT",
                                              "CAP_SYS_ADMIN",
                                              "CAP_SYS_BOOT",
                                              "CAP_SYS_NICE",
                                              "CAP_SYS_RESOURCE",
                                              "CAP_SYS_TIME",
                                              "CAP_SYS_TTY_CONFIG",
                                              "CAP_MKNOD",
                                              "CAP_LEASE",
                                              "CAP_AUDIT_WRITE",
                                              "CAP_AUDIT_CONTROL",
                                              "CAP_SETFCAP",
                                              "CAP_MAC_OVERRIDE",
                                              "CAP_MAC_ADMIN",
                                              "CAP_SYSLOG",
                                              "CAP_WAKE_ALARM",
                                              "CAP_BLOCK_SUSPEND",
                                              "CAP_AUDIT_READ",
                                              "CAP_PERFMON",
                                              "CAP_BPF",
                                              "CAP_CHECKPOINT_RESTORE"};
  return names;
}

std::optional<CapabilityMask> linux_capability(std::string_view name) {
  const std::vector<std::string>& names = linux_capability_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return CapabilityMask{1} << i;
  return std::nullopt;
}

std::string format_capabilities(CapabilityMask mask) {
  const std::vector<std::string>& names = linux_capability_names();
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    if ((mask >> i & 1) != 0) text += (text.empty() ? "" : ",") + names[i];
  return text;
}

std::optional<CapabilityMask> parse_capabilities(std::string_view text) {
  CapabilityMask mask = 0;
  while (auto name = next_field(text, ',')) {
    std::optional<CapabilityMask> one = linux_capability(*name);
    if (!one) return std::nullopt;
    mask |= *one;
  }
  return mask;
}

Result<CapabilitySets> read_capability_sets() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct words[kWords] = {};
  if (::syscall(SYS_capget, &header, words) != 0) return system_error(errno, "capabilities");
  return CapabilitySets{joined(words[0].effective, words[1].effective), joined(words[0].permitted, words[1].permitted),
                        joined(words[0].inheritable, words[1].inheritable)};
}

Result<void> write_capability_sets(const CapabilitySets& sets) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct words[kWords] = {};
  for (unsigned i = 0; i < kWords; ++i)
    words[i] = {.effective = static_cast<std::uint32_t>(sets.effective >> (32 * i)),
                .permitted = static_cast<std::uint32_t>(sets.permitted >> (32 * i)),
                .inheritable = static_cast<std::uint32_t>(sets.inheritable >> (32 * i))};
  if (::syscall(SYS_capset, &header, words) != 0) return system_error(errno, "capabilities");
  return {};
}

}  // namespace koord
