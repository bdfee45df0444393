// SPDX-License-Identifier: Apache-2.0
#include "core/service/kernel_probes.hpp"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "core/base/linux_capability.hpp"
#include "core/base/pidfd.hpp"
#include "core/base/unique_fd.hpp"

// Since Linux 5.14; older headers lack them.
#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE 62
#endif
#ifndef PR_SCHED_CORE_GET
#define PR_SCHED_CORE_GET 0
#endif

namespace koord::service {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

// Returns absent if the kernel does not implement the call or was built without it. Returns broken if we lack the
// permission, because the node supports it, but this process may not use it.
Finding refused(int error, const std::string& what, const std::string& may) {
  if (error == ENOSYS) return absent(what + ": the kernel does not have it");
  if (error == EPERM || error == EACCES) return broken(what + ": " + reason(error) + "; " + may);
  return broken(what + ": " + reason(error));
}

constexpr const char* kNeedsBpf = "needs CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN";

std::uint64_t pointer(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

// Loads the program "return 0" with the given type.
UniqueFd load_trivial_program(bpf_prog_type type) {
  const bpf_insn program[] = {
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .src_reg = 0, .off = 0, .imm = 0},
      {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
  };
  bpf_attr attr = {};
  attr.prog_type = type;
  attr.insns = pointer(program);
  attr.insn_cnt = 2;
  attr.license = pointer("GPL");
  return UniqueFd(static_cast<int>(::syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr)));
}

UniqueFd attach_to_raw_tracepoint(int program, const char* name) {
  bpf_attr attr = {};
  attr.raw_tracepoint.name = pointer(name);
  attr.raw_tracepoint.prog_fd = static_cast<std::uint32_t>(program);
  return UniqueFd(static_cast<int>(::syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof attr)));
}

UniqueFd open_own_counter(std::uint32_t type, std::uint64_t config) {
  perf_event_attr attr = {};
  attr.size = sizeof attr;
  attr.type = type;
  attr.config = config;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  return UniqueFd(static_cast<int>(::syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

}  // namespace

Finding supported(std::string detail) { return {CapabilityState::supported, std::move(detail)}; }
Finding absent(std::string detail) { return {CapabilityState::absent, std::move(detail)}; }
Finding broken(std::string detail) { return {CapabilityState::broken, std::move(detail)}; }

Finding probe_bpf() {
  if (load_trivial_program(BPF_PROG_TYPE_SOCKET_FILTER)) return supported("a program loads");
  return refused(errno, "loading a BPF program", kNeedsBpf);
}

Finding probe_bpf_tracepoint() {
  const UniqueFd program = load_trivial_program(BPF_PROG_TYPE_RAW_TRACEPOINT);
  if (!program) return refused(errno, "loading a BPF program for tracepoints", kNeedsBpf);
  if (attach_to_raw_tracepoint(program.get(), "sched_switch")) return supported("raw tracepoint sched_switch");
  if (errno == ENOENT) return absent("the kernel has no tracepoint sched_switch");
  return refused(errno, "attaching to the raw tracepoint sched_switch", kNeedsBpf);
}

Finding probe_perf_event() {
  if (open_own_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK)) return supported("a software counter opens");
  return refused(errno, "opening a perf event", "see /proc/sys/kernel/perf_event_paranoid");
}

Finding probe_pmu() {
  if (open_own_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES)) return supported("cycles are counted");
  if (errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV)
    return absent("no hardware counters, as in most virtual machines");
  return refused(errno, "opening a hardware counter", "see /proc/sys/kernel/perf_event_paranoid");
}

Finding probe_core_scheduling() {
  unsigned long long cookie = 0;
  constexpr unsigned long kOneThread = 0;
  if (::prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, 0, kOneThread, &cookie) == 0) return supported("PR_SCHED_CORE");
  if (errno == EINVAL) return absent("the kernel was built without CONFIG_SCHED_CORE");
  if (errno == ENODEV) return absent("no simultaneous multithreading, so nothing to keep apart");
  return refused(errno, "prctl(PR_SCHED_CORE)", "needs to be allowed by the seccomp filter");
}

// Checks the rights to write /proc/PID/oom_score_adj: the owner of the file, and the rule in the kernel's
// fs/proc/base.c, __set_oom_adj().
Finding probe_oom_score_adj() {
  const Result<CapabilitySets> ours = read_capability_sets();
  if (!ours) return broken("capget: " + ours.error().message());
  const auto lacks = [&](const char* name) { return (ours->effective & linux_capability(name).value_or(0)) == 0; };
  std::string missing;
  if (lacks("CAP_SYS_RESOURCE"))
    missing = "no score below the one that a process was started with: CAP_SYS_RESOURCE is missing";
  if (lacks("CAP_DAC_OVERRIDE"))
    missing += (missing.empty() ? "" : "; ") +
               std::string("only of processes of the agent's user: CAP_DAC_OVERRIDE is missing");
  return missing.empty() ? supported("scores of all processes, in both directions") : broken(missing);
}

Finding probe_inotify() {
  const UniqueFd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (inotify && ::inotify_add_watch(inotify.get(), "/", IN_DELETE_SELF) >= 0) return supported();
  if (errno == EMFILE || errno == ENOSPC) return broken("no instance or watch is left, see /proc/sys/fs/inotify");
  return refused(errno, "inotify", "needs to be allowed by the seccomp filter");
}

Finding probe_pidfd() {
  const UniqueFd self = open_pidfd(::getpid());
  return self ? supported() : refused(errno, "pidfd_open", "needs to be allowed by the seccomp filter");
}

}  // namespace koord::service
