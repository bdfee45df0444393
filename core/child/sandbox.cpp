// SPDX-License-Identifier: Apache-2.0
#include "core/child/sandbox.hpp"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/file.hpp"

namespace koord::child {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kForeignCalls = 0x40000000;  // x32: the same calls by other numbers
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kForeignCalls = 0xffffffff;
#endif

constexpr rlim_t kMaxFiles = 1024;

constexpr CapabilityMask bit(unsigned capability) { return CapabilityMask{1} << capability; }

constexpr CapabilityMask kAdmin = bit(CAP_SYS_ADMIN);
constexpr CapabilityMask kNobody = 0;

// Each answers EPERM, but to a process with one of these capabilities: who may not use a call need not reach its code.
struct Denial {
  long call;
  CapabilityMask unless;
};

constexpr Denial kDenied[] = {
    {SYS_mount, kAdmin},
    {SYS_umount2, kAdmin},
    {SYS_pivot_root, kAdmin},
    {SYS_move_mount, kAdmin},
    {SYS_open_tree, kAdmin},
    {SYS_fsopen, kAdmin},
    {SYS_fsmount, kAdmin},
    {SYS_fsconfig, kAdmin},
    {SYS_fspick, kAdmin},
    {SYS_setns, kAdmin},
    {SYS_unshare, kAdmin},
    {SYS_swapon, kAdmin},
    {SYS_swapoff, kAdmin},
    {SYS_sethostname, kAdmin},
    {SYS_setdomainname, kAdmin},
    {SYS_quotactl, kAdmin},
    {SYS_chroot, bit(CAP_SYS_CHROOT)},
    {SYS_ptrace, bit(CAP_SYS_PTRACE)},
    {SYS_process_vm_readv, bit(CAP_SYS_PTRACE)},
    {SYS_process_vm_writev, bit(CAP_SYS_PTRACE)},
    {SYS_init_module, bit(CAP_SYS_MODULE)},
    {SYS_finit_module, bit(CAP_SYS_MODULE)},
    {SYS_delete_module, bit(CAP_SYS_MODULE)},
    {SYS_kexec_load, bit(CAP_SYS_BOOT)},
    {SYS_reboot, bit(CAP_SYS_BOOT)},
    {SYS_settimeofday, bit(CAP_SYS_TIME)},
    {SYS_clock_settime, bit(CAP_SYS_TIME)},
    {SYS_adjtimex, bit(CAP_SYS_TIME)},
    {SYS_clock_adjtime, bit(CAP_SYS_TIME)},
    {SYS_acct, bit(CAP_SYS_PACCT)},
    {SYS_open_by_handle_at, bit(CAP_DAC_READ_SEARCH)},
    {SYS_syslog, bit(CAP_SYSLOG) | kAdmin},
    {SYS_bpf, bit(CAP_BPF) | kAdmin},
    {SYS_perf_event_open, bit(CAP_PERFMON) | kAdmin},
    {SYS_add_key, kNobody},
    {SYS_request_key, kNobody},
    {SYS_keyctl, kNobody},
    {SYS_userfaultfd, kNobody},
    {SYS_io_uring_setup, kNobody},
    // What it starts ends with it.
    {SYS_setsid, kNobody},
    {SYS_setpgid, kNobody},
};

Result<void> no_new_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error(errno, "no_new_privs");
  return {};
}

// From the bounding set first, for that needs a capability itself.
Result<CapabilityMask> keep_capabilities(CapabilityMask allowed) {
  for (unsigned capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability)
    if ((allowed & bit(capability)) == 0) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, sets) != 0) return system_error(errno, "capabilities");
  CapabilityMask kept = 0;
  for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; ++i) {
    const std::uint32_t both = sets[i].permitted & static_cast<std::uint32_t>(allowed >> (32 * i));
    sets[i] = {.effective = both, .permitted = both, .inheritable = both};
    kept |= CapabilityMask{both} << (32 * i);
  }
  if (::syscall(SYS_capset, &header, sets) != 0) return system_error(errno, "capabilities");
  return kept;
}

Result<void> limit_resources() {
  rlimit files{kMaxFiles, kMaxFiles};
  if (::setrlimit(RLIMIT_NOFILE, &files) != 0) return system_error(errno, "limit of open files");
  return {};
}

// Where memory is short for both, the plugin goes before the agent does.
void offer_as_victim() {
  // Without a /proc there is nothing to do, and nothing lost.
  [[maybe_unused]] Result<void> written = write_value("/proc/self/oom_score_adj", "500");
}

Result<void> deny_system_calls(CapabilityMask kept) {
  std::vector<sock_filter> program;
  auto load = [&](std::size_t offset) {
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  };
  auto refuse_if = [&](std::uint16_t comparison, std::uint32_t value, bool refused) {
    program.push_back(BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | comparison | BPF_K), value,
                               static_cast<std::uint8_t>(refused ? 0 : 1), static_cast<std::uint8_t>(refused ? 1 : 0)));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  };
  load(offsetof(seccomp_data, arch));
  refuse_if(BPF_JEQ, kArchitecture, false);
  load(offsetof(seccomp_data, nr));
  refuse_if(BPF_JGE, kForeignCalls, true);
  for (const Denial& denial : kDenied)
    if ((denial.unless & kept) == 0) refuse_if(BPF_JEQ, static_cast<std::uint32_t>(denial.call), true);
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
    return system_error(errno, "filter of system calls");
  return {};
}

}  // namespace

Result<CapabilityMask> enter_sandbox(CapabilityMask allowed) {
  offer_as_victim();
  TRY(no_new_privileges());
  TRY(limit_resources());
  CapabilityMask kept = TRY(keep_capabilities(allowed));
  TRY(deny_system_calls(kept));
  return kept;
}

}  // namespace koord::child
