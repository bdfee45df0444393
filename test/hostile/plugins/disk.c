/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on the node's disk space, each in the plugin's state directory. Each stops by itself, so a missing limit
 * fails the test and does not fill the disk. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hostile.h"

enum { kFiles = 800, kFilesOfTick = 20 };

/* Without its own user a plugin has no state directory, so the process exits. */
static int has_begun(const raid *r) {
  if (getenv("KOORD_STATE_DIRECTORY") == NULL) _exit(3);
  return r->tick > 1;
}

/* Writes some files in each tick, which ends long before its deadline. */
static int next_file(const raid *r, int n) {
  const int file = (int)(r->tick - 2) * kFilesOfTick + n;
  return file < kFiles ? file : -1;
}

static void fill_files(const raid *r, const char *folder) {
  char path[100];
  for (int n = 0; n < kFilesOfTick; ++n) {
    const int file = next_file(r, n);
    if (file < 0) return;
    snprintf(path, sizeof path, "%s/file-%d", folder, file);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) close(fd);
  }
}

void attack_state_files(raid *r) {
  if (has_begun(r)) fill_files(r, ".");
}

void attack_state_links(raid *r) {
  char path[100];
  if (!has_begun(r)) return;
  close(open("one", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  for (int n = 0; n < kFilesOfTick; ++n) {
    snprintf(path, sizeof path, "link-%d", next_file(r, n));
    (void)!link("one", path);
  }
}

void attack_state_big_file(raid *r) {
  static char block[1 << 20];
  if (!has_begun(r)) return;
  const int fd = open("big", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  memset(block, 'x', sizeof block);
  for (int i = 0; i < 20; ++i) (void)!write(fd, block, sizeof block);
  close(fd);
}

void attack_state_sparse(raid *r) {
  if (!has_begun(r)) return;
  const int fd = open("sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  (void)!ftruncate(fd, (off_t)1 << 40);
  close(fd);
}

/* Makes 100 nested directories, entered one by one. The next start begins in the state directory again. */
void attack_state_deep(raid *r) {
  if (!has_begun(r) || r->tick > 2) return;
  for (int i = 0; i < 100; ++i) {
    (void)!mkdir("down", 0700);
    if (chdir("down") != 0) return;
  }
}

void attack_state_hidden(raid *r) {
  if (!has_begun(r)) return;
  (void)!mkdir("hidden", 0700);
  fill_files(r, "hidden");
  if (next_file(r, 0) < 0) (void)!chmod("hidden", 0);
}

/* Unnamed files use space while they are open. If the agent cannot see these files, the plugin exits by itself. */
void attack_state_unnamed(raid *r) {
  static char block[1 << 20];
  char path[100];
  if (!has_begun(r)) return;
  if (r->tick > 200) _exit(3);
  if (r->tick > 2) return;
  memset(block, 'x', sizeof block);
  for (int i = 0; i < 8; ++i) {
    snprintf(path, sizeof path, "unnamed-%d", i);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    unlink(path);
    (void)!write(fd, block, sizeof block);
  }
}

void attack_preallocated(raid *r) {
  if (getenv("KOORD_STATE_DIRECTORY") == NULL) {
    say(r, "fallocate", EACCES);
    return;
  }
  const int fd = open("preallocated", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  say(r, "fallocate", fallocate(fd, 0, 0, 1 << 20) == 0 ? 0 : errno);
  close(fd);
  unlink("preallocated");
}
