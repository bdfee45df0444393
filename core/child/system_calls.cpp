// SPDX-License-Identifier: Apache-2.0
#include "core/child/system_calls.hpp"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace koord::child {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kForeignCalls = 0x40000000;  // x32: the same system calls under other numbers
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kForeignCalls = 0xffffffff;
#endif

constexpr CapabilityMask bit(unsigned capability) { return CapabilityMask{1} << capability; }

constexpr CapabilityMask kAdmin = bit(CAP_SYS_ADMIN);
constexpr CapabilityMask kNoCapability = 0;
constexpr long kOpenTreeAttr = 467;  // Linux 6.15

// A system call that returns EPERM, except for a process with one of the capabilities `unless`. So a process that may
// not use a call does not reach its kernel code.
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
    {kOpenTreeAttr, kAdmin},
    {SYS_fsopen, kAdmin},
    {SYS_fsmount, kAdmin},
    {SYS_fsconfig, kAdmin},
    {SYS_fspick, kAdmin},
    {SYS_mount_setattr, kAdmin},
    {SYS_setns, kAdmin},
    {SYS_unshare, kAdmin},
    {SYS_swapon, kAdmin},
    {SYS_swapoff, kAdmin},
    {SYS_sethostname, kAdmin},
    {SYS_setdomainname, kAdmin},
    {SYS_quotactl, kAdmin},
    {SYS_quotactl_fd, kAdmin},
    {SYS_fanotify_init, kAdmin},
    {SYS_chroot, bit(CAP_SYS_CHROOT)},
    {SYS_ptrace, bit(CAP_SYS_PTRACE)},
    {SYS_process_vm_readv, bit(CAP_SYS_PTRACE)},
    {SYS_process_vm_writev, bit(CAP_SYS_PTRACE)},
    {SYS_process_madvise, bit(CAP_SYS_PTRACE)},
    {SYS_process_mrelease, bit(CAP_SYS_PTRACE)},
    {SYS_kcmp, bit(CAP_SYS_PTRACE)},
    {SYS_pidfd_getfd, bit(CAP_SYS_PTRACE)},
    {SYS_pidfd_send_signal, bit(CAP_KILL)},
    {SYS_init_module, bit(CAP_SYS_MODULE)},
    {SYS_finit_module, bit(CAP_SYS_MODULE)},
    {SYS_delete_module, bit(CAP_SYS_MODULE)},
    {SYS_kexec_load, bit(CAP_SYS_BOOT)},
    {SYS_kexec_file_load, bit(CAP_SYS_BOOT)},
    {SYS_reboot, bit(CAP_SYS_BOOT)},
    {SYS_settimeofday, bit(CAP_SYS_TIME)},
    {SYS_clock_settime, bit(CAP_SYS_TIME)},
    {SYS_adjtimex, bit(CAP_SYS_TIME)},
    {SYS_clock_adjtime, bit(CAP_SYS_TIME)},
    {SYS_acct, bit(CAP_SYS_PACCT)},
    {SYS_vhangup, bit(CAP_SYS_TTY_CONFIG)},
    {SYS_open_by_handle_at, bit(CAP_DAC_READ_SEARCH)},
    // This call returns the ids by which BPF programs identify cgroups.
    {SYS_name_to_handle_at, bit(CAP_DAC_READ_SEARCH) | bit(CAP_BPF) | kAdmin},
    {SYS_syslog, bit(CAP_SYSLOG) | kAdmin},
    {SYS_bpf, bit(CAP_BPF) | kAdmin},
    {SYS_perf_event_open, bit(CAP_PERFMON) | kAdmin},
    {SYS_add_key, kNoCapability},
    {SYS_request_key, kNoCapability},
    {SYS_keyctl, kNoCapability},
    {SYS_userfaultfd, kNoCapability},
    {SYS_memfd_secret, kNoCapability},
    {SYS_io_uring_setup, kNoCapability},
    {SYS_io_uring_enter, kNoCapability},
    {SYS_io_uring_register, kNoCapability},
    {SYS_nfsservctl, kNoCapability},
    // Objects and requests that the kernel limits for the whole node, not for each user. The objects also outlive the
    // process that made them.
    {SYS_shmget, kNoCapability},
    {SYS_shmat, kNoCapability},
    {SYS_shmctl, kNoCapability},
    {SYS_semget, kNoCapability},
    {SYS_semop, kNoCapability},
    {SYS_semtimedop, kNoCapability},
    {SYS_semctl, kNoCapability},
    {SYS_msgget, kNoCapability},
    {SYS_msgsnd, kNoCapability},
    {SYS_msgrcv, kNoCapability},
    {SYS_msgctl, kNoCapability},
    {SYS_mq_open, kNoCapability},
    {SYS_mq_unlink, kNoCapability},
    {SYS_io_setup, kNoCapability},
#if defined(__x86_64__)
    {SYS_iopl, bit(CAP_SYS_RAWIO)},
    {SYS_ioperm, bit(CAP_SYS_RAWIO)},
    {SYS_modify_ldt, kNoCapability},
#endif
    // An agent locks the cgroup tree that it writes to (core/knob/tree_lock.hpp). A process with only read access could
    // take that lock first.
    {SYS_flock, kNoCapability},
    // The process group is one way to kill everything that the process has started.
    {SYS_setsid, kNoCapability},
    {SYS_setpgid, kNoCapability},
};

constexpr long kFchmodat2 = 452, kSetxattrat = 463, kRemovexattrat = 466;  // Linux 6.6, 6.13

constexpr Denial kDeniedOnAttributes[] = {
#if defined(__x86_64__)
    {SYS_chmod, bit(CAP_FOWNER)},
#endif
    {SYS_fchmod, bit(CAP_FOWNER)},       {SYS_fchmodat, bit(CAP_FOWNER)},    {kFchmodat2, bit(CAP_FOWNER)},
    {SYS_setxattr, bit(CAP_FOWNER)},     {SYS_lsetxattr, bit(CAP_FOWNER)},   {SYS_fsetxattr, bit(CAP_FOWNER)},
    {kSetxattrat, bit(CAP_FOWNER)},      {SYS_removexattr, bit(CAP_FOWNER)}, {SYS_lremovexattr, bit(CAP_FOWNER)},
    {SYS_fremovexattr, bit(CAP_FOWNER)}, {kRemovexattrat, bit(CAP_FOWNER)},
};

// A call that is allowed only for argument 0 or the process's own pid. Go preempts threads, and abort() ends a process,
// by tgkill with the own pid.
struct OwnProcessOnly {
  long call;
  unsigned argument;
  CapabilityMask unless;
};

constexpr OwnProcessOnly kOwnProcessOnly[] = {
    {SYS_kill, 0, bit(CAP_KILL)},
    {SYS_tkill, 0, bit(CAP_KILL)},
    {SYS_tgkill, 0, bit(CAP_KILL)},
    {SYS_rt_sigqueueinfo, 0, bit(CAP_KILL)},
    {SYS_rt_tgsigqueueinfo, 0, bit(CAP_KILL)},
    {SYS_pidfd_open, 0, bit(CAP_KILL)},
    {SYS_prlimit64, 0, bit(CAP_SYS_RESOURCE)},
    {SYS_sched_setaffinity, 0, bit(CAP_SYS_NICE)},
    {SYS_sched_setscheduler, 0, bit(CAP_SYS_NICE)},
    {SYS_sched_setparam, 0, bit(CAP_SYS_NICE)},
    {SYS_sched_setattr, 0, bit(CAP_SYS_NICE)},
    {SYS_migrate_pages, 0, bit(CAP_SYS_NICE)},
    {SYS_move_pages, 0, bit(CAP_SYS_NICE)},
};

// A call with a first argument that says which kind of object the second argument identifies.
struct OfKind {
  long call;
  std::uint32_t process;  // the kind "process"
};

constexpr std::uint32_t kIoprioWhoProcess = 1;
constexpr OfKind kOwnProcessOfKind[] = {{SYS_setpriority, PRIO_PROCESS}, {SYS_ioprio_set, kIoprioWhoProcess}};

constexpr std::uint32_t kNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr std::uint32_t kPushIntoTerminal = 0x5412, kLinuxConsole = 0x541c;  // TIOCSTI, TIOCLINUX
constexpr std::uint32_t kQueryPersonality = 0xffffffff, kLinuxPersonality = 0;
constexpr std::uint32_t kSocketType = 0xf;  // higher bits: SOCK_CLOEXEC, SOCK_NONBLOCK

std::uint16_t code_of(unsigned code) { return static_cast<std::uint16_t>(code); }

// The filter code of one system call. It starts with the call's number in the accumulator and ends with a result.
class Rule {
 public:
  static sock_filter answer(std::uint32_t what) { return BPF_STMT(BPF_RET | BPF_K, what); }
  static sock_filter error(int number) { return answer(SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(number)); }

  // Loads the lower 32 bits, because the kernel ignores the upper half of these arguments.
  Rule& load_argument(unsigned n) {
    code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                             static_cast<std::uint32_t>(offsetof(seccomp_data, args) + n * sizeof(std::uint64_t))));
    return *this;
  }
  Rule& mask(std::uint32_t bits) {
    code_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits));
    return *this;
  }
  Rule& when_equal(std::uint32_t value, sock_filter then) { return when(BPF_JEQ, value, then); }
  Rule& when_any_of(std::uint32_t bits, sock_filter then) { return when(BPF_JSET, bits, then); }
  Rule& unless_equal(std::uint32_t value, sock_filter then) {
    code_.push_back(BPF_JUMP(code_of(BPF_JMP | BPF_JEQ | BPF_K), value, 1, 0));
    code_.push_back(then);
    return *this;
  }
  Rule& otherwise(sock_filter then) {
    code_.push_back(then);
    return *this;
  }
  const std::vector<sock_filter>& code() const { return code_; }

 private:
  Rule& when(unsigned comparison, std::uint32_t value, sock_filter then) {
    code_.push_back(BPF_JUMP(code_of(BPF_JMP | comparison | BPF_K), value, 0, 1));
    code_.push_back(then);
    return *this;
  }
  std::vector<sock_filter> code_;
};

class Program {
 public:
  Program() {
    load(offsetof(seccomp_data, arch));
    append(Rule().unless_equal(kArchitecture, kRefuse));
    load(offsetof(seccomp_data, nr));
    code_.push_back(BPF_JUMP(code_of(BPF_JMP | BPF_JGE | BPF_K), kForeignCalls, 0, 1));
    code_.push_back(kRefuse);
  }
  void add(long call, const Rule& rule) {
    const auto length = static_cast<std::uint8_t>(rule.code().size());
    code_.push_back(BPF_JUMP(code_of(BPF_JMP | BPF_JEQ | BPF_K), static_cast<std::uint32_t>(call), 0, length));
    append(rule);
  }
  Result<void> install() {
    code_.push_back(kAllow);
    sock_fprog filter{static_cast<unsigned short>(code_.size()), code_.data()};
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
      return system_error(errno, "filter of system calls");
    return {};
  }

  static constexpr sock_filter kAllow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  static constexpr sock_filter kRefuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);

 private:
  void load(std::size_t offset) {
    code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  }
  void append(const Rule& rule) { code_.insert(code_.end(), rule.code().begin(), rule.code().end()); }

  std::vector<sock_filter> code_;
};

constexpr sock_filter kAllow = Program::kAllow, kRefuse = Program::kRefuse;

void add_own_process_rules(Program& program, CapabilityMask kept) {
  const auto own = static_cast<std::uint32_t>(::getpid());
  for (const OwnProcessOnly& one : kOwnProcessOnly)
    if ((one.unless & kept) == 0)
      program.add(one.call,
                  Rule().load_argument(one.argument).when_equal(0, kAllow).when_equal(own, kAllow).otherwise(kRefuse));
  for (const OfKind& one : kOwnProcessOfKind)
    if ((bit(CAP_SYS_NICE) & kept) == 0)
      program.add(one.call, Rule()
                                .load_argument(0)
                                .unless_equal(one.process, kRefuse)
                                .load_argument(1)
                                .when_equal(0, kAllow)
                                .when_equal(own, kAllow)
                                .otherwise(kRefuse));
}

// Restricts clone(). clone3() has its flags in memory, where no filter can read them. So clone3() returns ENOSYS, and
// libc uses clone().
void add_rules_of_new_processes(Program& program, CapabilityMask kept) {
  const std::uint32_t denied = CLONE_PARENT | CLONE_PTRACE | ((kAdmin & kept) == 0 ? kNamespaces : 0);
  program.add(SYS_clone, Rule().load_argument(0).when_any_of(denied, kRefuse).otherwise(kAllow));
  program.add(SYS_clone3, Rule().otherwise(Rule::error(ENOSYS)));
}

void add_socket_rules(Program& program, CapabilityMask kept, NetworkMask network) {
  Rule rule;
  rule.load_argument(0);
  if ((network & kNetworkUnix) != 0) rule.when_equal(AF_UNIX, kAllow);
  if ((network & kNetworkNetlink) != 0) rule.when_equal(AF_NETLINK, kAllow);
  if ((bit(CAP_NET_RAW) & kept) != 0)
    for (std::uint32_t family : {AF_INET, AF_INET6, AF_PACKET}) rule.when_equal(family, kAllow);
  // AF_INET and AF_INET6 go on to the check of the socket type. Any other family ends here.
  rule.otherwise(BPF_JUMP(code_of(BPF_JMP | BPF_JEQ | BPF_K), AF_INET, 2, 0));
  rule.otherwise(BPF_JUMP(code_of(BPF_JMP | BPF_JEQ | BPF_K), AF_INET6, 1, 0));
  rule.otherwise(kRefuse).load_argument(1).mask(kSocketType);
  if ((network & kNetworkTcp) != 0) rule.when_equal(SOCK_STREAM, kAllow);
  if ((network & kNetworkUdp) != 0) rule.when_equal(SOCK_DGRAM, kAllow);
  rule.otherwise(kRefuse);
  program.add(SYS_socket, rule);
  Rule pair;
  pair.load_argument(0).unless_equal(AF_UNIX, kRefuse);
  if ((network & kNetworkUnix) == 0) {
    // A socket of a datagram pair could also send to other processes' sockets.
    pair.load_argument(1)
        .mask(kSocketType)
        .when_equal(SOCK_STREAM, kAllow)
        .when_equal(SOCK_SEQPACKET, kAllow)
        .otherwise(kRefuse);
  } else {
    pair.otherwise(kAllow);
  }
  program.add(SYS_socketpair, pair);
}

}  // namespace

Result<void> filter_system_calls(CapabilityMask kept, NetworkMask network, FileAttributes attributes) {
  Program program;
  for (const Denial& denial : kDenied)
    if ((denial.unless & kept) == 0) program.add(denial.call, Rule().otherwise(kRefuse));
  if (attributes == FileAttributes::closed)
    for (const Denial& denial : kDeniedOnAttributes)
      if ((denial.unless & kept) == 0) program.add(denial.call, Rule().otherwise(kRefuse));
  add_own_process_rules(program, kept);
  add_rules_of_new_processes(program, kept);
  add_socket_rules(program, kept, network);
  // fallocate() takes disk space faster than the agent can measure the state directory. On this error libc writes zeros
  // instead.
  program.add(SYS_fallocate, Rule().otherwise(Rule::error(EOPNOTSUPP)));
  program.add(SYS_personality, Rule()
                                   .load_argument(0)
                                   .when_equal(kQueryPersonality, kAllow)
                                   .when_equal(kLinuxPersonality, kAllow)
                                   .otherwise(kRefuse));
  program.add(SYS_ioctl, Rule()
                             .load_argument(1)
                             .when_equal(kPushIntoTerminal, kRefuse)
                             .when_equal(kLinuxConsole, kRefuse)
                             .otherwise(kAllow));
  return program.install();
}

}  // namespace koord::child
