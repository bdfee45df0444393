/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks that end the plugin: invalid bytes on its channels, mistakes, and processes that outlive it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

/* The numbers of a child's descriptors (core/child/protocol.hpp). */
enum { kCallsFd = 3, kServicesFd = 5, kSamplesFd = 6 };

static void send_packet(int fd, const char *bytes, size_t size, int with) {
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control;
  struct iovec piece = {(void *)(uintptr_t)bytes, size};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  memset(&control, 0, sizeof control);
  if (with >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    *CMSG_FIRSTHDR(&message) =
        (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &with, sizeof with);
  }
  sendmsg(fd, &message, MSG_NOSIGNAL);
}

static void random_bytes(int fd) {
  char bytes[1000];
  unsigned state = 12345;
  for (int round = 0; round < 100; ++round) {
    for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = (char)((state = state * 1103515245u + 12345u) >> 16);
    if (round % 2) bytes[0] = 'i';
    send_packet(fd, bytes, sizeof bytes, -1);
  }
}

void attack_garbage_services(raid *r) {
  if (r->tick == 2) random_bytes(kServicesFd);
}

void attack_garbage_calls(raid *r) {
  if (r->tick == 2) random_bytes(kCallsFd);
}

/* Calls services with counts of four thousand million, for example of labels for service 4. */
void attack_huge_counts(raid *r) {
  char bytes[64];
  if (r->tick != 2) return;
  for (unsigned service = 1; service < 40; ++service) {
    memset(bytes, 0xff, sizeof bytes);
    bytes[0] = 'i';
    memcpy(bytes + 1, &service, sizeof service);
    send_packet(kServicesFd, bytes, sizeof bytes, -1);
  }
}

/* Sends a message in a memfd of 16 MiB, and truncates it while it is read. */
void attack_half_message(raid *r) {
  if (r->tick < 2) return;
  const int memory = memfd_create("koord-test-hostile", MFD_CLOEXEC);
  if (memory < 0 || ftruncate(memory, 16 << 20) != 0) return;
  send_packet(kServicesFd, "m", 1, memory);
  for (int i = 0; i < 100; ++i) {
    (void)!ftruncate(memory, 0);
    (void)!ftruncate(memory, 16 << 20);
  }
  close(memory);
  if (r->tick > 30) send_packet(kServicesFd, "m", 1, -1);
}

void attack_garbage_ring(raid *r) {
  if (r->tick != 2) return;
  unsigned char *ring = mmap(NULL, 1 << 18, PROT_READ | PROT_WRITE, MAP_SHARED, kSamplesFd, 0);
  if (ring != MAP_FAILED) memset(ring, 0xf7, 1 << 18);
}

void attack_shrink_ring(raid *r) {
  if (r->tick != 1) return;
  STEP(r, "shrink", ftruncate(kSamplesFd, 0));
  STEP(r, "grow", ftruncate(kSamplesFd, 64 << 20));
  STEP(
      r, "punch",
      fallocate(kSamplesFd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1 << 20, 4096) == 0 ? (errno = EPERM, -1) : -1);
}

/* ---- processes that it leaves ---- */

void attack_daemon(raid *r) {
  if (r->tick != 2) return;
  for (int i = 0; i < 5; ++i) leave_daemon();
  _exit(0);
}

/* For kills.cpp. It starts six processes that stay, and has no line in the table of attacks. */
void leave_crowd(raid *r) {
  if (r->tick != 1) return;
  for (int i = 0; i < 6; ++i) leave_daemon();
}

/* The constructor has started a process that stays. */
void attack_constructor_daemon(raid *r) {
  if (r->tick == 2) _exit(0);
}

void attack_new_program(raid *r) {
  if (r->tick != 2) return;
  for (int i = 0; i < 3; ++i)
    if (fork() == 0) {
      setsid();
      char *const words[] = {"koord-hostile-sleep", "1000", NULL};
      char *const environment[] = {NULL};
      execve("/bin/sleep", words, environment);
      for (;;) pause();
    }
  usleep(200000);
  _exit(0);
}

/* ---- memory and files ---- */

void attack_eat_memory(raid *r) {
  if (r->tick < 2) return;
  for (;;) {
    char *memory = malloc(1 << 20);
    if (memory) memset(memory, 1, 1 << 20);
    if (!memory) abort();
  }
}

void attack_shared_memory(raid *r) {
  if (r->tick < 2) return;
  static char block[1 << 20];
  memset(block, 1, sizeof block);
  const int memory = memfd_create("koord-test-hostile", MFD_CLOEXEC);
  for (;;)
    if (write(memory, block, sizeof block) < 0) _exit(9);
}

void attack_open_files(raid *r) {
  int fds[5000];
  long made = 0;
  if (r->tick != 1) return;
  while (made < 5000 && (fds[made] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) ++made;
  say(r, "all", made < 5000 ? EMFILE : 0);
  while (made > 0) close(fds[--made]);
}

/* ---- mistakes ---- */

void attack_crash(raid *r) {
  if (r->tick < 2) return;
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

void attack_silent_exit(raid *r) {
  if (r->tick >= 2) _exit(42);
}

void attack_hang(raid *r) {
  if (r->tick >= 2)
    for (;;) pause();
}

void attack_ignore_stop(raid *r) {
  if (r->tick == 1)
    for (int number = 1; number < 32; ++number) signal(number, SIG_IGN);
}
