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

// No plugin that looks at a node needs these; each answers EPERM.
constexpr long kDenied[] = {
    SYS_mount,         SYS_umount2,         SYS_pivot_root,    SYS_chroot,          SYS_move_mount,
    SYS_open_tree,     SYS_fsopen,          SYS_fsmount,       SYS_fsconfig,        SYS_fspick,
    SYS_setns,         SYS_unshare,         SYS_ptrace,        SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_init_module,   SYS_finit_module,    SYS_delete_module, SYS_kexec_load,      SYS_reboot,
    SYS_swapon,        SYS_swapoff,         SYS_settimeofday,  SYS_clock_settime,   SYS_adjtimex,
    SYS_clock_adjtime, SYS_sethostname,     SYS_setdomainname, SYS_acct,            SYS_quotactl,
    SYS_add_key,       SYS_request_key,     SYS_keyctl,        SYS_open_by_handle_at, SYS_userfaultfd,
    SYS_syslog,        SYS_io_uring_setup,
};

Result<void> no_new_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error(errno, "no_new_privs");
  return {};
}

// From the bounding set first, for that needs a capability itself.
Result<void> drop_capabilities() {
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability)
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capset, &header, none) != 0) return system_error(errno, "capabilities");
  return {};
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

Result<void> deny_system_calls() {
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
  for (long call : kDenied) refuse_if(BPF_JEQ, static_cast<std::uint32_t>(call), true);
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
    return system_error(errno, "filter of system calls");
  return {};
}

}  // namespace

Result<void> enter_sandbox() {
  offer_as_victim();
  TRY(no_new_privileges());
  TRY(limit_resources());
  TRY(drop_capabilities());
  return deny_system_calls();
}

}  // namespace koord::child
