/* SPDX-License-Identifier: Apache-2.0 */
/* The node's files: files with which root could gain its rights again, and files that only their owner may read. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

/* Renames a file, and renames it back. */
static void there_and_back(raid *r, const char *step, const char *path) {
  char from[700], to[720];
  snprintf(from, sizeof from, "%s", path);
  snprintf(to, sizeof to, "%s.koord-test", from);
  const int moved = rename(from, to);
  say(r, step, moved == 0 ? 0 : errno);
  if (moved == 0 && rename(to, from) != 0) say(r, "back", errno);
}

void attack_core_pattern(raid *r) {
  if (r->tick == 1) write_same(r, "core_pattern", "/proc/sys/kernel/core_pattern");
}

void attack_kernel_tunables(raid *r) {
  if (r->tick != 1) return;
  write_same(r, "modprobe", "/proc/sys/kernel/modprobe");
  write_same(r, "suid_dumpable", "/proc/sys/fs/suid_dumpable");
  write_same(r, "panic", "/proc/sys/kernel/panic");
  write_same(r, "overcommit", "/proc/sys/vm/overcommit_memory");
  write_same(r, "forward", "/proc/sys/net/ipv4/ip_forward");
  open_only(r, "uevent_helper", "/sys/kernel/uevent_helper", O_WRONLY);
}

void attack_sysrq(raid *r) {
  if (r->tick != 1) return;
  open_only(r, "sysrq", "/proc/sysrq-trigger", O_WRONLY);
  open_only(r, "binfmt", "/proc/sys/fs/binfmt_misc/register", O_WRONLY);
}

void attack_release_agent(raid *r) {
  char path[600];
  if (r->tick != 1) return;
  const char *root = setting(r, "/cgroup");
  snprintf(path, sizeof path, "%s/memory/release_agent", root);
  write_same(r, "release_agent", path);
  snprintf(path, sizeof path, "%s/memory/notify_on_release", root);
  write_same(r, "notify", path);
}

void attack_devices(raid *r) {
  if (r->tick != 1) return;
  open_only(r, "mem", "/dev/mem", O_RDWR);
  open_only(r, "kmsg", "/dev/kmsg", O_WRONLY);
  open_only(r, "kmsg-read", "/dev/kmsg", O_RDONLY);
  open_only(r, "port", "/dev/port", O_RDWR);
  STEP(r, "mknod", mknod("/dev/shm/koord-test-hostile-device", S_IFCHR | 0600, makedev(1, 1)));
  unlink("/dev/shm/koord-test-hostile-device");
}

void attack_system_files(raid *r) {
  if (r->tick != 1) return;
  make_file(r, "etc", "/etc");
  make_file(r, "root", "/root");
  make_file(r, "usr", "/usr/local/lib");
  make_file(r, "var", "/var/lib");
  make_file(r, "spool", "/var/spool");
}

void attack_shared_folders(raid *r) {
  if (r->tick != 1) return;
  make_file(r, "tmp", "/tmp");
  make_file(r, "run", "/run");
  make_file(r, "shm", "/dev/shm");
}

void attack_secrets(raid *r) {
  if (r->tick != 1) return;
  open_only(r, "shadow", "/etc/shadow", O_RDONLY);
  open_only(r, "secret", setting(r, "/secret"), O_RDONLY);
  open_only(r, "journal", setting(r, "/store"), O_RDONLY);
}

static int set_ids(void *argument) {
  (void)argument;
  return setresgid(0, 0, 0) == 0 && setresuid(0, 0, 0) == 0 ? 0 : errno;
}

static int other_ids(void *argument) {
  (void)argument;
  return setresuid(1, 1, 1) == 0 ? 0 : errno;
}

static int take_capabilities(void *argument) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[2] = {{~0u, ~0u, ~0u}, {0x1ff, 0x1ff, 0x1ff}};
  (void)argument;
  return syscall(SYS_capset, &header, sets) == 0 ? 0 : errno;
}

void attack_become_root(raid *r) {
  if (r->tick != 1) return;
  say(r, "root", in_child(set_ids, NULL));
  say(r, "another", in_child(other_ids, NULL));
  say(r, "capabilities", in_child(take_capabilities, NULL));
  gid_t group = 0;
  STEP(r, "groups", setgroups(1, &group));
  STEP(r, "ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0));
  STEP(r, "chroot", syscall(SYS_chroot, "/"));
  STEP(r, "new_privs", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == -1 && errno == EINVAL ? (errno = EPERM, -1) : 0);
}

/* As root, su asks for no password and succeeds. If it waits for a password, the timer ends it. */
static int run_su(void *argument) {
  char *const words[] = {"su", "-c", "true", NULL};
  char *const environment[] = {NULL};
  (void)argument;
  close(0);
  setitimer(ITIMER_REAL, &(const struct itimerval){.it_value = {.tv_usec = 300000}}, NULL);
  execve("/usr/bin/su", words, environment);
  return errno;
}

void attack_setuid_program(raid *r) {
  if (r->tick == 1) say(r, "su", in_child(run_su, NULL));
}

void attack_own_directory(raid *r) {
  if (r->tick == 1) make_file(r, "own", setting(r, "/own"));
}

void attack_plugin_directory(raid *r) {
  char path[600], other[640];
  if (r->tick != 1) return;
  snprintf(path, sizeof path, "%s", setting(r, "/plugins"));
  make_file(r, "plugins", path);
  snprintf(other, sizeof other, "%s/bystander.so", path);
  open_only(r, "bystander", other, O_WRONLY);
  there_and_back(r, "rename", other);
}

void attack_programs(raid *r) {
  char path[600];
  if (r->tick != 1) return;
  open_only(r, "agent", proc(r->agent, "exe"), O_WRONLY);
  open_only(r, "self", "/proc/self/exe", O_WRONLY);
  open_only(r, "host", setting(r, "/program"), O_WRONLY);
  snprintf(path, sizeof path, "%s/programs.so", setting(r, "/plugins"));
  open_only(r, "own", path, O_WRONLY);
  STEP(r, "chmod", chmod(path, 0644));
}

void attack_agent_files(raid *r) {
  if (r->tick != 1) return;
  open_only(r, "store", setting(r, "/store"), O_RDWR);
  open_only(r, "config", setting(r, "/config"), O_WRONLY);
  make_file(r, "folder", setting(r, "/folder"));
  there_and_back(r, "rename", setting(r, "/config"));
}
