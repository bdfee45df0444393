/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks by runtime hooks. Each is called in handle(), once for each pod and container that the agent asks about. A
 * quota of kPoison in a container, or FORGED in an answer to the runtime, is an answer that the agent must not take.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hostile.h"

enum { kHooksFd = 4 }; /* where a child's descriptor is (core/child/protocol.hpp) */
#define POISON "33000"

static koord_status set(const raid *r, koord_str field, koord_str value) {
  return r->response->set(r->response, field, value);
}

static void try_set(raid *r, const char *step, koord_str field, koord_str value) {
  const koord_status status = set(r, field, value);
  if (status == KOORD_OK)
    say(r, step, 0);
  else
    say_status(r, step, status);
}

static void try_text(raid *r, const char *step, const char *field, const char *value) {
  try_set(r, step, text_of(field), text_of(value));
}

static void try_scale(raid *r, const char *step, const char *field, double factor) {
  const koord_status status = r->response->scale(r->response, text_of(field), factor);
  if (status == KOORD_OK)
    say(r, step, 0);
  else
    say_status(r, step, status);
}

static void poison(const raid *r) { set(r, STR("linux.cpu.quota"), STR(POISON)); }

/* ---- values ---- */

static char *filled(size_t size) {
  char *text = malloc(size);
  if (text) memset(text, 'x', size);
  return text;
}

static void try_paths(raid *r) {
  try_text(r, "mount-dotdot", "mount:/etc/../..", "/");
  try_text(r, "mount-root", "mount:/", "/etc");
  try_text(r, "mount-relative", "mount:etc", "/etc");
  try_text(r, "mount-from-dotdot", "mount:/FORGED", "/run/../etc");
  try_text(r, "mount-from-relative", "mount:/FORGED", "etc");
  try_text(r, "mount-option", "mount:/FORGED", "/etc rw,suid");
  try_text(r, "mount-line", "mount:/FORGED\n/", "/etc");
  try_text(r, "device-dotdot", "device:/dev/../etc/FORGED", "c 1:3");
  try_text(r, "device-elsewhere", "device:/etc/FORGED", "c 1:3");
  try_text(r, "device-folder", "device:/dev/", "c 1:3");
  try_text(r, "device-huge", "device:/dev/FORGED", "c 4096:1048576");
  try_text(r, "device-setuid", "device:/dev/FORGED", "c 1:3 4777");
  try_text(r, "device-kind", "device:/dev/FORGED", "p 1:3");
  try_text(r, "group-dotdot", "linux.rdt.closid", "..");
  try_text(r, "group-path", "linux.rdt.closid", "../../FORGED");
}

static void try_numbers(raid *r) {
  try_text(r, "shares-low", "linux.cpu.shares", "1");
  try_text(r, "shares-high", "linux.cpu.shares", "262145");
  try_text(r, "quota-low", "linux.cpu.quota", "999");
  try_text(r, "quota-negative", "linux.cpu.quota", "-1000");
  try_text(r, "quota-beyond", "linux.cpu.quota", "99999999999999999999");
  try_text(r, "quota-hex", "linux.cpu.quota", "0x33000");
  try_text(r, "quota-spaces", "linux.cpu.quota", " 33000");
  try_text(r, "period-zero", "linux.cpu.period", "0");
  try_text(r, "memory-negative", "linux.memory.limit", "-2");
  try_text(r, "cpus-empty", "linux.cpuset.cpus", "");
  try_text(r, "cpus-wild", "linux.cpuset.cpus", "4294967295-0");
  try_text(r, "oom", "linux.oom_score_adj", "-1001");
  try_text(r, "classid", "linux.net_cls.classid", "-1");
  try_scale(r, "scale-nan", "linux.cpu.quota", (double)NAN);
  try_scale(r, "scale-infinite", "linux.cpu.quota", (double)INFINITY);
  try_scale(r, "scale-negative", "linux.memory.limit", -1);
  try_scale(r, "scale-zero", "linux.memory.limit", 0);
  try_scale(r, "scale-huge", "linux.cpu.quota", 1e300);
  try_scale(r, "scale-other", "linux.cpu.shares", 2);
}

static void try_texts(raid *r) {
  char *huge = filled(2 << 20);
  try_text(r, "unknown", "no.such.field", "FORGED");
  try_text(r, "empty", "", "FORGED");
  try_set(r, "nul-field", STR("env:A\0B"), STR("FORGED"));
  try_set(r, "nul-value", STR("env:FORGED"), STR("a\0b"));
  try_set(r, "null", (koord_str){NULL, 8}, STR("FORGED"));
  try_set(r, "endless", STR("env:FORGED"), (koord_str){"a", UINT64_MAX});
  try_text(r, "env-equals", "env:FORGED=1", "1");
  try_text(r, "env-line", "env:FORGED\nLD_PRELOAD", "1");
  try_text(r, "env-bytes", "env:FORGED", "\xff\xfe");
  try_text(r, "annotation-control", "annotation:FORGED\x1b[2J", "1");
  try_text(r, "annotation-bytes", "annotation:FORGED", "\xc0\x80");
  if (!huge) return;
  try_set(r, "value-1-mib", STR("env:FORGED"), (koord_str){huge, 1 << 20});
  try_set(r, "value-2-mib", STR("env:FORGED"), (koord_str){huge, 2 << 20});
  try_set(r, "field-1-mib", (koord_str){huge, 1 << 20}, STR("FORGED"));
  free(huge);
}

void attack_hook_fields(raid *r) {
  try_texts(r);
  try_numbers(r);
  try_paths(r);
}

/* Well-formed fields that would give root access to the node. */
void attack_hook_node_access(raid *r) {
  try_text(r, "root", "mount:/FORGED", "/");
  try_text(r, "root-read-only", "mount:/FORGED", "/ ro");
  try_text(r, "socket", "mount:/FORGED", "/run/containerd/containerd.sock");
  try_text(r, "disk", "device:/dev/FORGED", "b 8:0 0666");
  try_text(r, "memory", "device:/dev/FORGED", "c 1:1");
}

void attack_hook_many_fields(raid *r) {
  char name[32];
  char *big = filled(64 << 10);
  long taken = 0, bytes = 0;
  for (int i = 0; i < 100000; ++i) {
    snprintf(name, sizeof name, "annotation:n%d", i);
    taken += set(r, text_of(name), STR("")) == KOORD_OK;
  }
  for (int i = 0; big && i < 256; ++i) {
    snprintf(name, sizeof name, "annotation:n%d", i);
    if (set(r, text_of(name), (koord_str){big, 64 << 10}) == KOORD_OK) bytes += 64 << 10;
  }
  free(big);
  say_status(r, "fields", taken > 256 ? KOORD_OK : KOORD_E_AGAIN);
  say_status(r, "bytes", bytes > 256 << 10 ? KOORD_OK : KOORD_E_AGAIN);
}

/* A response only has fields of the asked pod, so these are guesses. */
void attack_hook_foreign_knobs(raid *r) {
  say(r, "knobs", r->host->get_service(r->host, "koord.knobs/1") ? 0 : EACCES);
  say(r, "evict", r->host->get_service(r->host, "koord.evict/1") ? 0 : EACCES);
  try_text(r, "of-cgroup", "koord-test-hostile/cpu.shares", "2");
  try_text(r, "of-pod", "linux.cpu.shares@koord-test-hostile", "2");
  try_text(r, "of-parent", "../linux.cpu.shares", "2");
  try_text(r, "of-node", "kernel.core_pattern", "|/bin/false");
  try_text(r, "file", "linux.unified.cpu.max", "1000 100000");
}

/* ---- time ---- */

/* Answers after the agent's deadline (2 s), but before the agent ends the call. */
void attack_hook_late(raid *r) {
  usleep(2200000);
  poison(r);
  say_count(r, "asked", (long)r->tick);
}

void attack_hook_sleep(raid *r) {
  usleep(5000000);
  poison(r);
}

void attack_hook_hang(raid *r) {
  poison(r);
  for (;;) pause();
}

void attack_hook_stopped(raid *r) {
  poison(r);
  raise(SIGSTOP);
  for (;;) pause();
}

void attack_hook_crash(raid *r) {
  poison(r);
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

void attack_hook_set_flood(raid *r) {
  for (;;) poison(r);
}

/* Never sends the same value twice. */
void attack_hook_flapping(raid *r) {
  char quota[24];
  snprintf(quota, sizeof quota, "%ld", 40000 + (long)r->tick);
  set(r, STR("linux.cpu.quota"), text_of(quota));
  say_count(r, "asked", (long)r->tick);
}

/* ---- rejections ---- */

void attack_hook_rejection(raid *r) {
  static const char start[] = "forged\r\n2026 ERROR agent \x1b[2J\x1b]0;title\x07\xff\xc2\x9b";
  char *why = filled(1 << 20);
  if (!why) return;
  memcpy(why, start, sizeof start); /* including its NUL */
  say_count(r, "status", r->response->reject(r->response, (koord_str){why, 1 << 20}));
  free(why);
}

/* ---- its channel ---- */

typedef struct {
  char *bytes;
  size_t size;
} message;

static void add(message *m, const void *bytes, size_t size) {
  memcpy(m->bytes + m->size, bytes, size);
  m->size += size;
}

static void add_count(message *m, uint32_t count) { add(m, &count, sizeof count); }

static void add_text(message *m, const char *text, uint64_t size) {
  add(m, &size, sizeof size);
  add(m, text, size);
}

/* Adds the beginning of an answer: the status, an empty error text, no CPU time. */
static void add_head(message *m) {
  const int64_t cpu = 0;
  add_count(m, KOORD_OK);
  add_text(m, "", 0);
  add(m, &cpu, sizeof cpu);
}

static void send_packet(const char *bytes, size_t size, int memory) {
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control;
  struct iovec piece = {(void *)(uintptr_t)bytes, size};
  struct msghdr packet = {.msg_iov = &piece, .msg_iovlen = 1};
  memset(&control, 0, sizeof control);
  if (memory >= 0) {
    packet.msg_control = control.bytes;
    packet.msg_controllen = sizeof control.bytes;
    *CMSG_FIRSTHDR(&packet) =
        (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&packet)), &memory, sizeof memory);
  }
  sendmsg(kHooksFd, &packet, MSG_NOSIGNAL);
}

static void send_in_memory(const message *m) {
  const int memory = memfd_create("koord-test-hostile", MFD_CLOEXEC);
  if (memory >= 0 && write(memory, m->bytes, m->size) == (ssize_t)m->size) send_packet("m", 1, memory);
  if (memory >= 0) close(memory);
}

/* Sends an answer with fields that this process' own side of the response would have refused. */
void attack_hook_forged_answer(raid *r) {
  char bytes[1000] = "i";
  message m = {bytes, 1};
  const double factor = (double)NAN;
  (void)r;
  add_head(&m);
  add_count(&m, 3);
  add_text(&m, "linux.cpu.quota", 15);
  add_text(&m, POISON, 5);
  add_text(&m, "mount:/etc/../../FORGED", 23);
  add_text(&m, "/", 1);
  add_text(&m, "env:FORGED\n", 11);
  add_text(&m, "\xff", 1);
  add_count(&m, 1);
  add_text(&m, "linux.cpu.quota", 15);
  add(&m, &factor, sizeof factor);
  add_count(&m, 0);
  add_text(&m, "", 0);
  send_packet(m.bytes, m.size, -1);
}

/* Sends 80 variables of 64 KiB, each valid. */
void attack_hook_huge_answer(raid *r) {
  enum { kFields = 80, kSize = 64 << 10 };
  message m = {filled((kFields + 1) * (kSize + 64)), 0};
  char *value = filled(kSize), name[32];
  (void)r;
  if (!m.bytes || !value) return;
  add_head(&m);
  add_count(&m, kFields);
  for (int i = 0; i < kFields; ++i) {
    snprintf(name, sizeof name, "env:FORGED%d", i);
    add_text(&m, name, strlen(name));
    add_text(&m, value, kSize);
  }
  add_count(&m, 0);
  add_count(&m, 0);
  add_text(&m, "", 0);
  send_in_memory(&m);
  free(m.bytes);
  free(value);
}

void attack_hook_garbage(raid *r) {
  char bytes[1000] = "i";
  unsigned state = 4711 + (unsigned)r->tick;
  for (size_t i = 1; i < sizeof bytes; ++i) bytes[i] = (char)((state = state * 1103515245u + 12345u) >> 16);
  send_packet(bytes, sizeof bytes, -1);
}
