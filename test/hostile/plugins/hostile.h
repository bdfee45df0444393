/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the attacks. An attack is called at each tick, an attack of a hook at each request, until it ends its
 * process. It reports its results with say(). */
#ifndef KOORD_TEST_HOSTILE_H
#define KOORD_TEST_HOSTILE_H

#include <errno.h>
#include <koordetector/plugin.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define STR(literal) ((koord_str){(literal), sizeof(literal) - 1})

typedef struct raid {
  const koord_host *host;
  const char *name; /* name of the attack in attacks.inc */
  uint64_t tick, now_ns;
  pid_t agent, sibling; /* sibling: process of a different plugin; 0: it has none */
  const koord_svc_metrics *metrics;
  const koord_svc_fs *fs;
  const koord_svc_state *state;
  const koord_svc_kv *kv;
  const koord_svc_cgroup *cgroup;
  const koord_svc_audit *audit;
  const koord_svc_capabilities *capabilities;
  const koord_svc_knobs *knobs;
  const koord_svc_evict *evict;
  const koord_svc_verdict *verdict;
  uint64_t series;
  const koord_hook_request *request; /* request and response are set only in a call of a runtime hook */
  const koord_hook_response *response;
  char line[3000];
  size_t length;
} raid;

/* Adds "step=EPERM", or "step=DONE" if error is 0, to the line that is logged after the tick. */
void say(raid *r, const char *step, int error);
void say_status(raid *r, const char *step, koord_status status);
void say_count(raid *r, const char *step, long count);
/* For a call that fails with -1 and errno. */
#define STEP(r, step, call) say((r), (step), (call) == -1 ? errno : 0)

/* Returns a text of the plugin's configuration at a pointer, such as "/socket"; "" if missing. Valid until the next
 * call. */
const char *setting(const raid *r, const char *pointer);
/* Returns "/proc/PID/name". Valid until the next call. */
const char *proc(pid_t pid, const char *name);
/* Runs a step in a child process that ends immediately. Returns its exit status: 0 or an errno. */
int in_child(int (*step)(void *), void *argument);
/* Opens the file, reads it and writes the same bytes. This proves the right to write, but changes nothing. */
void write_same(raid *r, const char *step, const char *path);
void open_only(raid *r, const char *step, const char *path, int flags);
/* Creates a file with this name in the folder, and removes it. */
void make_file(raid *r, const char *step, const char *folder);
/* Starts a process that does not end by itself and has the tests' mark. Returns its number. */
pid_t leave_daemon(void);
void leave_crowd(raid *r);
koord_str text_of(const char *text);

/* One iteration each; floods.c calls them without end. */
void flood_of_verdicts(raid *r, uint64_t count);
void flood_of_changes(raid *r, uint64_t count);
void flood_of_lists(raid *r, uint64_t count);
void flood_of_reads(raid *r, uint64_t count);

#define ATTACK(name, ...) void attack_##name(raid *r);
#define OPEN ATTACK
#include "../attacks.inc"
#undef ATTACK
#undef OPEN

#endif
