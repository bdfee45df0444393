/* SPDX-License-Identifier: Apache-2.0 */
/* Other processes: signals, limits, memory, descriptors. Each step first tries a call that is harmless even if it
 * succeeds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

/* SIGURG is ignored by default, and forbidden like any other signal. SIGKILL is tried only after SIGURG was refused. */
static void signal_process(raid *r, pid_t pid) {
  siginfo_t info = {.si_signo = SIGURG, .si_code = SI_QUEUE};
  STEP(r, "kill", kill(pid, SIGURG));
  const int refused = errno;
  STEP(r, "tgkill", syscall(SYS_tgkill, pid, pid, SIGURG));
  STEP(r, "tkill", syscall(SYS_tkill, pid, SIGURG));
  STEP(r, "queue", syscall(SYS_rt_sigqueueinfo, pid, SIGURG, &info));
  STEP(r, "tgqueue", syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGURG, &info));
  STEP(r, "continue", kill(pid, SIGCONT));
  const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (pidfd >= 0) {
    STEP(r, "pidfd", syscall(SYS_pidfd_send_signal, pidfd, SIGURG, NULL, 0));
    close(pidfd);
  }
  STEP(r, "group", kill(-getpgid(pid), 0));
  if (strstr(r->line, "=DONE") != NULL || refused == 0) return;
  STEP(r, "stop", kill(pid, SIGSTOP));
  STEP(r, "KILL", kill(pid, SIGKILL));
}

void attack_signal_agent(raid *r) {
  if (r->tick == 1) signal_process(r, r->agent);
}

void attack_signal_sibling(raid *r) {
  if (r->tick == 1) signal_process(r, r->sibling);
}

/* Signal 0 only checks the permission. The kernel leaves out the caller itself. */
void attack_signal_all(raid *r) {
  if (r->tick == 1) STEP(r, "all", kill(-1, 0));
}

/* When the signal is sent, the kernel checks the rights of the process that set the owner against the target, without
 * an error. SIGIO ends a process without a handler, so the harness sees whether the agent still runs. */
static void own_signal(pid_t pid) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  if (fcntl(ends[0], F_SETOWN, pid) == 0 && fcntl(ends[0], F_SETFL, O_ASYNC) == 0) (void)!write(ends[1], "x", 1);
  close(ends[0]);
  close(ends[1]);
}

void attack_signal_by_owner(raid *r) {
  if (r->tick != 1) return;
  STEP(r, "kill", kill(r->agent, SIGURG));
  if (strstr(r->line, "=DONE") != NULL) return;
  own_signal(r->agent);
  own_signal(r->sibling);
}

static void limit_process(raid *r, pid_t pid) {
  struct rlimit limit = {0, 0};
  STEP(r, "read", prlimit(pid, RLIMIT_NOFILE, NULL, &limit));
  if (limit.rlim_cur > 0) STEP(r, "set", prlimit(pid, RLIMIT_NOFILE, &limit, NULL));
  const struct rlimit small = {64, 64};
  if (limit.rlim_cur == 0) STEP(r, "lower", prlimit(pid, RLIMIT_NOFILE, &small, NULL));
}

void attack_limit_agent(raid *r) {
  if (r->tick == 1) limit_process(r, r->agent);
}

void attack_limit_sibling(raid *r) {
  if (r->tick == 1) limit_process(r, r->sibling);
}

static void schedule_process(raid *r, pid_t pid) {
  const struct sched_param normal = {0};
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &cpus);
  STEP(r, "nice", setpriority(PRIO_PROCESS, (id_t)pid, 0));
  STEP(r, "class", sched_setscheduler(pid, SCHED_OTHER, &normal));
  STEP(r, "affinity", sched_setaffinity(pid, sizeof cpus, &cpus));
  STEP(r, "io", syscall(SYS_ioprio_set, 1, pid, (2 << 13) | 4));
}

void attack_schedule_agent(raid *r) {
  if (r->tick == 1) schedule_process(r, r->agent);
}

void attack_schedule_sibling(raid *r) {
  if (r->tick == 1) schedule_process(r, r->sibling);
}

void attack_oom_score(raid *r) {
  const int own = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (r->tick != 1) return;
  say(r, "own", own < 0 ? errno : write(own, "0", 1) == 1 ? 0 : errno);
  if (own >= 0) close(own);
  write_same(r, "agent", proc(r->agent, "oom_score_adj"));
  write_same(r, "sibling", proc(r->sibling, "oom_score_adj"));
}

void attack_raise_limits(raid *r) {
  if (r->tick != 1) return;
  struct rlimit files, large = {1 << 20, 1 << 20};
  getrlimit(RLIMIT_NOFILE, &files);
  STEP(r, "files", setrlimit(RLIMIT_NOFILE, &large));
  STEP(r, "nice", setpriority(PRIO_PROCESS, 0, -10));
  STEP(r, "io", syscall(SYS_ioprio_set, 1, 0, (1 << 13) | 0));
}

void attack_realtime(raid *r) {
  const struct sched_param high = {.sched_priority = 1};
  if (r->tick != 1) return;
  STEP(r, "fifo", sched_setscheduler(0, SCHED_FIFO, &high));
  STEP(r, "rr", sched_setscheduler(0, SCHED_RR, &high));
  sched_setscheduler(0, SCHED_OTHER, &(const struct sched_param){0});
}

void attack_memory_of_agent(raid *r) {
  if (r->tick != 1) return;
  open_only(r, "mem", proc(r->agent, "mem"), O_RDWR);
  open_only(r, "mem-read", proc(r->agent, "mem"), O_RDONLY);
  open_only(r, "maps", proc(r->agent, "maps"), O_RDONLY);
  open_only(r, "environ", proc(r->agent, "environ"), O_RDONLY);
  open_only(r, "fd", proc(r->agent, "fd"), O_RDONLY | O_DIRECTORY);
  open_only(r, "root", proc(r->agent, "root/etc"), O_RDONLY | O_DIRECTORY);
  open_only(r, "clear_refs", proc(r->agent, "clear_refs"), O_WRONLY);
  open_only(r, "ns", proc(r->agent, "ns/mnt"), O_RDONLY);
}

void attack_memory_of_sibling(raid *r) {
  if (r->tick != 1) return;
  open_only(r, "mem", proc(r->sibling, "mem"), O_RDWR);
  open_only(r, "ring", proc(r->sibling, "fd/6"), O_RDWR);
  open_only(r, "environ", proc(r->sibling, "environ"), O_RDONLY);
  open_only(r, "coredump_filter", proc(r->sibling, "coredump_filter"), O_WRONLY);
}

void attack_names_of_others(raid *r) {
  if (r->tick != 1) return;
  open_only(r, "init", "/proc/1/environ", O_RDONLY);
  open_only(r, "init-maps", "/proc/1/maps", O_RDONLY);
  open_only(r, "kcore", "/proc/kcore", O_RDONLY);
}

/* Returns an address that is mapped in other plugins' processes, too, if the kernel maps their programs at the same
 * place. */
static void *here_too(void) {
  static char page[4096];
  return page;
}

static int seize(void *argument) {
  if (ptrace(PTRACE_SEIZE, *(pid_t *)argument, 0, 0) != 0) return errno;
  ptrace(PTRACE_DETACH, *(pid_t *)argument, 0, 0);
  return 0;
}

void attack_ptrace(raid *r) {
  char bytes[8];
  struct iovec here = {bytes, sizeof bytes}, there = {here_too(), sizeof bytes};
  if (r->tick != 1) return;
  say(r, "agent", in_child(seize, &r->agent));
  say(r, "sibling", in_child(seize, &r->sibling));
  STEP(r, "read", process_vm_readv(r->sibling, &here, 1, &there, 1, 0));
  if (strstr(r->line, "read=DONE")) STEP(r, "write", process_vm_writev(r->sibling, &here, 1, &there, 1, 0));
  STEP(r, "traceme", ptrace(PTRACE_TRACEME, 0, 0, 0));
}

void attack_pidfd_getfd(raid *r) {
  const pid_t targets[] = {r->agent, r->sibling};
  if (r->tick != 1) return;
  for (int i = 0; i < 2; ++i) {
    const int pidfd = (int)syscall(SYS_pidfd_open, targets[i], 0);
    if (pidfd < 0) {
      say(r, "open", errno);
      continue;
    }
    const int fd = (int)syscall(SYS_pidfd_getfd, pidfd, 3, 0);
    say(r, "take", fd < 0 ? errno : 0);
    if (fd >= 0) close(fd);
    close(pidfd);
  }
}

void attack_compare(raid *r) {
  if (r->tick != 1) return;
  STEP(r, "kcmp", syscall(SYS_kcmp, r->agent, r->sibling, KCMP_FILES, 0, 0));
  const int pidfd = (int)syscall(SYS_pidfd_open, r->sibling, 0);
  struct iovec range = {here_too(), 4096};
  if (pidfd >= 0) STEP(r, "madvise", syscall(SYS_process_madvise, pidfd, &range, 1, MADV_COLD, 0));
  if (pidfd >= 0) close(pidfd);
  STEP(r, "move", syscall(SYS_move_pages, r->sibling, 0UL, NULL, NULL, NULL, 0));
  unsigned long node = 1;
  STEP(r, "migrate", syscall(SYS_migrate_pages, r->sibling, 8 * sizeof node, &node, &node));
}
