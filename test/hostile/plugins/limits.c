/* SPDX-License-Identifier: Apache-2.0 */
/* Cgroups, namespaces, and system calls that a plugin's process does not need. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hostile.h"

/* ---- cgroups ---- */

/* Writes the cgroup directory of a process in the hierarchy of a v1 controller, or in the unified hierarchy if
 * `controller` is NULL; "" if unknown. */
static void cgroup_of(const raid *r, pid_t pid, const char *controller, char *directory, size_t size) {
  char line[1024], *at, *path;
  FILE *list = fopen(proc(pid, "cgroup"), "re");
  directory[0] = '\0';
  while (list && fgets(line, sizeof line, list)) {
    line[strcspn(line, "\n")] = '\0';
    if (!(at = strchr(line, ':')) || !(path = strchr(++at, ':'))) continue;
    *path++ = '\0';
    if (controller && strcmp(at, controller) == 0)
      snprintf(directory, size, "%s/%s%s", setting(r, "/cgroup"), controller, path);
    if (!controller && *at == '\0') snprintf(directory, size, "%s%s", setting(r, "/cgroup"), path);
  }
  if (list) fclose(list);
}

static void write_limit(raid *r, const char *step, const char *controller, const char *v1_file, const char *v2_file,
                        const char *value) {
  char directory[800], path[900];
  cgroup_of(r, getpid(), controller, directory, sizeof directory);
  const char *file = v1_file;
  if (directory[0] == '\0') {
    cgroup_of(r, getpid(), NULL, directory, sizeof directory);
    file = v2_file;
  }
  snprintf(path, sizeof path, "%s/%s", directory, file);
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  say(r, step, fd < 0 ? errno : write(fd, value, strlen(value)) < 0 ? errno : 0);
  if (fd >= 0) close(fd);
}

void attack_own_memory_limit(raid *r) {
  if (r->tick != 1) return;
  write_limit(r, "limit", "memory", "memory.limit_in_bytes", "memory.max", "999999488");
  write_limit(r, "oom", "memory", "memory.oom_control", "memory.oom.group", "1");
}

void attack_own_cpu_limit(raid *r) {
  if (r->tick != 1) return;
  write_limit(r, "quota", "cpu", "cpu.cfs_quota_us", "cpu.max", "190000");
  write_limit(r, "shares", "cpu", "cpu.shares", "cpu.weight", "9999");
}

void attack_own_process_limit(raid *r) {
  if (r->tick == 1) write_limit(r, "pids", "pids", "pids.max", "pids.max", "5000");
}

static void move(raid *r, const char *step, const char *directory, pid_t pid) {
  char path[900], text[24];
  snprintf(path, sizeof path, "%s/cgroup.procs", directory);
  snprintf(text, sizeof text, "%d", (int)pid);
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  say(r, step, fd < 0 ? errno : write(fd, text, strlen(text)) < 0 ? errno : 0);
  if (fd >= 0) close(fd);
}

/* ".": the only hierarchy on a node with only cgroup v2. */
static const char *const hierarchies[] = {"memory", "cpu", "pids", "unified", "."};

void attack_leave_cgroup(raid *r) {
  char directory[600];
  if (r->tick != 1) return;
  for (size_t i = 0; i < sizeof hierarchies / sizeof hierarchies[0]; ++i) {
    snprintf(directory, sizeof directory, "%s/%s/koord-test-hostile", setting(r, "/cgroup"), hierarchies[i]);
    move(r, hierarchies[i], directory, getpid());
  }
  move(r, "root", setting(r, "/cgroup"), getpid());
}

void attack_capture_agent(raid *r) {
  char directory[800];
  if (r->tick != 1) return;
  cgroup_of(r, getpid(), "pids", directory, sizeof directory);
  if (directory[0] == '\0') cgroup_of(r, getpid(), NULL, directory, sizeof directory);
  move(r, "agent", directory, r->agent);
  move(r, "sibling", directory, r->sibling);
}

void attack_sibling_cgroup(raid *r) {
  char directory[800], path[900];
  if (r->tick != 1) return;
  cgroup_of(r, r->sibling, "cpu", directory, sizeof directory);
  snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
  if (directory[0] == '\0') {
    cgroup_of(r, r->sibling, NULL, directory, sizeof directory);
    snprintf(path, sizeof path, "%s/cpu.max", directory);
  }
  write_same(r, "quota", path);
}

void attack_make_cgroup(raid *r) {
  char directory[800], path[900];
  if (r->tick != 1) return;
  cgroup_of(r, getpid(), "pids", directory, sizeof directory);
  if (directory[0] == '\0') cgroup_of(r, getpid(), NULL, directory, sizeof directory);
  snprintf(path, sizeof path, "%s/koord-test-hostile-below", directory);
  STEP(r, "below", mkdir(path, 0755));
  rmdir(path);
  for (size_t i = 0; i < sizeof hierarchies / sizeof hierarchies[0]; ++i) {
    snprintf(path, sizeof path, "%s/%s/koord-test-hostile-beside", setting(r, "/cgroup"), hierarchies[i]);
    STEP(r, hierarchies[i], mkdir(path, 0755));
    rmdir(path);
  }
}

/* ---- namespaces ---- */

static const struct {
  const char *name;
  int flag;
} kinds[] = {{"user", CLONE_NEWUSER}, {"mnt", CLONE_NEWNS},  {"pid", CLONE_NEWPID},      {"net", CLONE_NEWNET},
             {"ipc", CLONE_NEWIPC},   {"uts", CLONE_NEWUTS}, {"cgroup", CLONE_NEWCGROUP}};

static int unshare_one(void *argument) { return unshare(*(int *)argument) == 0 ? 0 : errno; }

void attack_unshare(raid *r) {
  if (r->tick != 1) return;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    int flag = kinds[i].flag;
    say(r, kinds[i].name, in_child(unshare_one, &flag));
  }
}

static int clone_flags(unsigned long flags) {
  const long pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0);
  if (pid == 0) _exit(0);
  if (pid < 0) return errno;
  waitpid((pid_t)pid, NULL, 0);
  return 0;
}

static int clone3_flags(uint64_t flags) {
  struct clone_args arguments = {.flags = flags, .exit_signal = SIGCHLD};
  const long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) _exit(0);
  if (pid < 0) return errno;
  waitpid((pid_t)pid, NULL, 0);
  return 0;
}

void attack_clone_namespace(raid *r) {
  char step[32];
  if (r->tick != 1) return;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    say(r, kinds[i].name, clone_flags((unsigned)kinds[i].flag));
    snprintf(step, sizeof step, "%s-3", kinds[i].name);
    say(r, step, clone3_flags((unsigned)kinds[i].flag));
    if (kinds[i].flag != CLONE_NEWUSER) {
      snprintf(step, sizeof step, "%s-user", kinds[i].name);
      say(r, step, clone_flags((unsigned)kinds[i].flag | CLONE_NEWUSER));
    }
  }
}

void attack_setns(raid *r) {
  if (r->tick != 1) return;
  const int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (own >= 0) STEP(r, "own", setns(own, 0));
  if (own >= 0) close(own);
  const int pidfd = (int)syscall(SYS_pidfd_open, r->agent, 0);
  if (pidfd >= 0) STEP(r, "agent", setns(pidfd, CLONE_NEWNS));
  if (pidfd >= 0) close(pidfd);
  if (own < 0 && pidfd < 0) say(r, "open", EACCES);
}

void attack_mount(raid *r) {
  if (r->tick != 1) return;
  STEP(r, "mount", mount("none", "/nonexistent", "tmpfs", 0, NULL));
  STEP(r, "umount", umount2("/nonexistent", MNT_DETACH));
  STEP(r, "open_tree", syscall(SYS_open_tree, AT_FDCWD, "/proc", 1));
  STEP(r, "fsopen", syscall(SYS_fsopen, "tmpfs", 0));
  STEP(r, "move_mount", syscall(SYS_move_mount, -1, "", -1, "", 0));
  STEP(r, "pivot", syscall(SYS_pivot_root, "/nonexistent", "/nonexistent"));
  uint64_t attributes[4] = {0};
  STEP(r, "setattr", syscall(442 /* mount_setattr */, AT_FDCWD, "/nonexistent", 0, attributes, sizeof attributes));
}

void attack_clone_parent(raid *r) {
  if (r->tick != 1) return;
  const long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, 0);
  if (pid == 0) _exit(0);
  say(r, "clone", pid < 0 ? errno : 0);
  struct clone_args arguments = {.flags = CLONE_PARENT};
  const long other = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (other == 0) _exit(0);
  say(r, "clone3", other < 0 ? errno : 0);
}

/* ---- calls ---- */

/* A call that checks rights before its arguments fails with EPERM. Any other errno shows that the kernel executed its
 * code. */
static void refused(raid *r, const char *step, long result) { say(r, step, result == -1 ? errno : 0); }

void attack_kernel_objects(raid *r) {
  if (r->tick != 1) return;
  refused(r, "bpf", syscall(SYS_bpf, 0, NULL, 0));
  refused(r, "perf", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
  refused(r, "add_key", syscall(SYS_add_key, "user", "koord-test", "x", 1, -2));
  refused(r, "keyctl", syscall(SYS_keyctl, 0, -2, 1));
  refused(r, "io_uring", syscall(SYS_io_uring_setup, 1, NULL));
  refused(r, "userfaultfd", syscall(SYS_userfaultfd, 0));
  refused(r, "handle", syscall(SYS_open_by_handle_at, -1, NULL, 0));
  refused(r, "fanotify", syscall(SYS_fanotify_init, 0, 0));
}

void attack_tree_lock(raid *r) {
  char path[600];
  if (r->tick != 1) return;
  snprintf(path, sizeof path, "%s/memory", setting(r, "/cgroup"));
  int directory = open(path, O_RDONLY | O_DIRECTORY);
  if (directory < 0) directory = open(setting(r, "/cgroup"), O_RDONLY | O_DIRECTORY);
  refused(r, "flock", flock(directory, LOCK_EX | LOCK_NB));
}

/* The plugin removes each object that it could create. */
void attack_sysv_objects(raid *r) {
  if (r->tick != 1) return;
  const int memory = shmget(IPC_PRIVATE, 4096, 0600);
  STEP(r, "memory", memory);
  if (memory >= 0) shmctl(memory, IPC_RMID, NULL);
  const int semaphores = semget(IPC_PRIVATE, 1, 0600);
  STEP(r, "semaphores", semaphores);
  if (semaphores >= 0) semctl(semaphores, 0, IPC_RMID);
  const int queue = msgget(IPC_PRIVATE, 0600);
  STEP(r, "queue", queue);
  if (queue >= 0) msgctl(queue, IPC_RMID, NULL);
  STEP(r, "attach", shmat(-1, NULL, 0) == (void *)-1 ? -1 : 0);
  struct shm_info all;
  STEP(r, "list", shmctl(0, SHM_INFO, (struct shmid_ds *)&all));
  const long posix = syscall(SYS_mq_open, "koord-test-hostile", O_CREAT | O_RDWR, 0600, NULL);
  STEP(r, "posix_queue", posix);
  if (posix >= 0) syscall(SYS_mq_unlink, "koord-test-hostile");
}

void attack_aio_contexts(raid *r) {
  unsigned long context = 0;
  if (r->tick != 1) return;
  STEP(r, "setup", syscall(SYS_io_setup, 100, &context));
  if (context != 0) syscall(SYS_io_destroy, context);
}

void attack_machine(raid *r) {
  if (r->tick != 1) return;
  refused(r, "reboot", syscall(SYS_reboot, 0, 0, 0, NULL)); /* no magic: nothing happens */
  refused(r, "kexec", syscall(SYS_kexec_load, 0, 0, NULL, 1L << 40));
  refused(r, "module", syscall(SYS_finit_module, -1, "", 0));
  refused(r, "unload", syscall(SYS_delete_module, "koord-test-no-such-module", O_NONBLOCK));
  refused(r, "swapoff", syscall(SYS_swapoff, "/nonexistent"));
  refused(r, "hostname", syscall(SYS_sethostname, NULL, -1));
  refused(r, "acct", syscall(SYS_acct, "/nonexistent"));
  refused(r, "syslog", syscall(SYS_syslog, 3, NULL, 0));
  refused(r, "iopl", syscall(SYS_quotactl, 0, NULL, 0, NULL));
}

void attack_clock(raid *r) {
  struct timex change = {.modes = ADJ_TICK};
  struct timex now = {0};
  if (r->tick != 1) return;
  adjtimex(&now);
  change.tick = now.tick ? now.tick : 10000; /* its current value */
  STEP(r, "adjtimex", adjtimex(&change));
  STEP(r, "clock_adjtime", clock_adjtime(CLOCK_REALTIME, &change));
  refused(r, "settime", syscall(SYS_clock_settime, CLOCK_REALTIME, NULL));
  refused(r, "settimeofday", syscall(SYS_settimeofday, NULL, NULL));
}

#if defined(__x86_64__)
static int call_32(void *argument) {
  long result = 20; /* getpid of i386 */
  (void)argument;
  __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "cc");
  return result < 0 ? (int)-result : 0;
}

static int call_x32(void *argument) {
  (void)argument;
  return syscall(0x40000000 + SYS_getpid) == -1 ? errno : 0;
}

void attack_foreign_calls(raid *r) {
  if (r->tick != 1) return;
  say(r, "i386", in_child(call_32, NULL));
  say(r, "x32", in_child(call_x32, NULL));
}
#endif

static int allow_all(void *argument) {
  struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {1, allow};
  (void)argument;
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
  return unshare(CLONE_NEWUSER) == 0 ? 0 : errno;
}

void attack_loosen_seccomp(raid *r) {
  if (r->tick == 1) say(r, "unshare", in_child(allow_all, NULL));
}
