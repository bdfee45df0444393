/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the host's services that must be refused: foreign files, names, series, knobs. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "hostile.h"

/* ---- koord.fs ---- */

static void read_file(raid *r, const char *step, uint32_t root, const char *path) {
  static char content[1 << 20];
  uint64_t need = 0;
  const koord_status status = r->fs->read(r->host, root, text_of(path), content, sizeof content, &need);
  if (status == KOORD_OK || status == KOORD_E_TOO_SMALL)
    say(r, step, 0);
  else
    say_status(r, step, status);
}

static void read_of(raid *r, const char *step, pid_t pid, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "%d/%s", (int)pid, name);
  read_file(r, step, KOORD_ROOT_PROC, path);
}

void attack_fs_environ(raid *r) {
  if (r->tick != 1) return;
  read_file(r, "self", KOORD_ROOT_PROC, "self/environ");
  read_file(r, "thread-self", KOORD_ROOT_PROC, "thread-self/environ");
  read_file(r, "init", KOORD_ROOT_PROC, "1/environ");
  read_of(r, "agent", r->agent, "environ");
  read_of(r, "sibling", r->sibling, "environ");
  read_file(r, "dots", KOORD_ROOT_PROC, "./1//environ");
  read_file(r, "task", KOORD_ROOT_PROC, "1/task/1/environ");
}

void attack_fs_memory(raid *r) {
  if (r->tick != 1) return;
  read_file(r, "maps", KOORD_ROOT_PROC, "self/maps");
  read_file(r, "smaps", KOORD_ROOT_PROC, "self/smaps");
  read_file(r, "auxv", KOORD_ROOT_PROC, "self/auxv");
  read_file(r, "mem", KOORD_ROOT_PROC, "self/mem");
  read_file(r, "kcore", KOORD_ROOT_PROC, "kcore");
  read_of(r, "agent-maps", r->agent, "maps");
  read_of(r, "agent-fd", r->agent, "fd/3");
  read_of(r, "agent-fdinfo", r->agent, "fdinfo/3");
  read_file(r, "kmsg", KOORD_ROOT_PROC, "kmsg");
  read_file(r, "keys", KOORD_ROOT_PROC, "keys");
}

void attack_fs_outside(raid *r) {
  if (r->tick != 1) return;
  read_file(r, "dotdot", KOORD_ROOT_PROC, "../etc/hostname");
  read_file(r, "inner-dotdot", KOORD_ROOT_SYS, "kernel/../../etc/hostname");
  read_file(r, "absolute", KOORD_ROOT_PROC, "/etc/hostname");
  read_file(r, "root", KOORD_ROOT_PROC, "self/root/etc/hostname");
  read_file(r, "init-root", KOORD_ROOT_PROC, "1/root/etc/hostname");
  read_file(r, "cwd", KOORD_ROOT_PROC, "1/cwd/etc/hostname");
  read_file(r, "exe", KOORD_ROOT_PROC, "self/exe");
  read_file(r, "empty", KOORD_ROOT_PROC, "");
  read_file(r, "run", KOORD_ROOT_RUN, "../etc/hostname");
  read_file(r, "no-root", 99, "version");
}

/* ---- grants of other plugins ---- */

void attack_denied_services(raid *r) {
  if (r->tick != 1) return;
  say(r, "knobs", r->knobs ? 0 : EACCES);
  say(r, "evict", r->evict ? 0 : EACCES);
  say(r, "unknown", r->host->get_service(r->host, "koord.root/1") ? 0 : EACCES);
}

static koord_intent intent_of(const char *cgroup, const char *knob, const char *value, uint32_t level) {
  koord_intent intent = {.struct_size = sizeof intent, .level = level, .priority = 1000000, .ttl_ns = 60000000000u};
  intent.knob = text_of(knob);
  intent.cgroup_dir = text_of(cgroup);
  intent.value = text_of(value);
  intent.reason = STR("because");
  return intent;
}

/* The harness checks what was written. */
void attack_foreign_knobs(raid *r) {
  static char own[300], other[300];
  snprintf(own, sizeof own, "koordetector-plugins/com.hostile.foreign-knobs");
  snprintf(other, sizeof other, "koordetector-plugins/com.bystander");
  if (!r->knobs) return;
  const koord_intent intents[] = {
      intent_of("koord-test-hostile", "cpu.max", "12000 100000", KOORD_LEVEL_POD), /* the harness' own cgroup */
      intent_of(own, "cpu.max", "max 100000", KOORD_LEVEL_POD),
      intent_of(other, "cpu.max", "10000 100000", KOORD_LEVEL_CONTAINER),
      intent_of("koord-test-hostile", "cpu.shares", "3", KOORD_LEVEL_QOS),
      intent_of("koord-test-hostile", "memory.high", "100000000", KOORD_LEVEL_CONTAINER),
      intent_of("kubepods/../koord-test-hostile", "cpu.shares", "4", KOORD_LEVEL_POD),
  };
  long taken = 0;
  for (size_t i = 0; i < sizeof intents / sizeof intents[0]; ++i)
    taken += r->knobs->propose(r->host, &intents[i], 1, sizeof intents[i]) == KOORD_OK;
  if (r->tick == 20) say(r, "taken", taken > 0 ? 0 : EACCES);
}

void attack_evictions(raid *r) {
  uint64_t pods[] = {1, 2, 3, UINT64_MAX};
  koord_eviction eviction = {.struct_size = sizeof eviction, .n_pods = 4, .pods = pods, .amount = INT64_MAX};
  eviction.resource = STR("cpu");
  eviction.reason = STR("because");
  if (!r->evict) return;
  const koord_status status = r->evict->request(r->host, &eviction);
  if (r->tick == 10) say_count(r, "status", status);
}

/* ---- names ---- */

static koord_status define(raid *r, const char *name, uint32_t type, const char *help, uint32_t *metric) {
  koord_metric_desc desc = {.struct_size = sizeof desc, .type = type, .flags = KOORD_METRIC_EXPORT, .resolution = 1};
  desc.name = text_of(name);
  desc.unit = STR("things");
  desc.help = text_of(help);
  return r->metrics->define(r->host, &desc, metric);
}

static void squat(raid *r, const char *const *names, size_t n) {
  uint32_t metric;
  for (size_t i = 0; i < n; ++i) {
    const koord_status status = define(r, names[i], KOORD_GAUGE, "Mine.", &metric);
    if (status == KOORD_OK)
      say(r, names[i], 0);
    else
      say_status(r, names[i], status);
  }
}

void attack_squat_metric(raid *r) {
  static const char *const names[] = {"pod_cpu_usage", "pod_memory_usage", "container_cpu_usage",
                                      "container_sched_latency_seconds", "container_cpi"};
  if (r->tick == 1) squat(r, names, sizeof names / sizeof names[0]);
}

void attack_squat_host(raid *r) {
  static const char *const names[] = {"host_series", "plugin_calls_total", "http_requests_total", "store_bytes",
                                      "node_cpu_usage"};
  if (r->tick == 1) squat(r, names, sizeof names / sizeof names[0]);
}

void attack_squat_capability(raid *r) {
  static const char *const names[] = {
      "bpf", "psi", "cgroup", "advisor-node-resource", "com.bystander", "com.bystander/works", "container_psi"};
  if (r->tick != 1) return;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    const koord_status status =
        r->capabilities->report(r->host, text_of(names[i]), KOORD_CAPABILITY_BROKEN, STR("so I say"));
    uint32_t state = 0;
    if (status != KOORD_OK)
      say_status(r, names[i], status);
    else
      say(r, names[i],
          r->capabilities->get(r->host, text_of(names[i]), &state) == KOORD_OK && state == KOORD_CAPABILITY_BROKEN
              ? 0
              : EACCES);
  }
}

/* The plugin's own keys with these names are visible only to itself. The bystander reads its key in each tick and logs
 * a change. */
void attack_squat_kv(raid *r) {
  if (r->tick == 1) {
    r->kv->set(r->host, STR("com.bystander/pid"), "nothing!", 8, 0);
    r->kv->set(r->host, STR("../com.bystander/pid"), "nothing!", 8, 0);
    r->kv->remove(r->host, STR("com.bystander/pid"));
  }
  if (r->tick == 5) say_count(r, "tries", 3);
}

void attack_foreign_series(raid *r) {
  uint64_t series = 0, need = 0;
  if (r->tick != 1) return;
  r->kv->get(r->host, STR("com.bystander/series"), &series, sizeof series, &need);
  const koord_point point = {series, 1e9};
  r->metrics->append(r->host, r->now_ns, &point, 1, sizeof point); /* the harness looks at the value */
  const koord_status ended = r->metrics->end_series(r->host, series);
  if (ended == KOORD_OK)
    say(r, "end", 0);
  else
    say_status(r, "end", ended);
}

static void append(raid *r, const char *step, uint64_t time, uint64_t series, double value) {
  const koord_point point = {series, value};
  const koord_status status = r->metrics->append(r->host, time, &point, 1, sizeof point);
  if (status == KOORD_OK)
    say(r, step, 0);
  else
    say_status(r, step, status);
}

void attack_odd_values(raid *r) {
  uint32_t metric;
  uint64_t series = 0;
  if (r->tick != 1) return;
  if (define(r, "hostile_odd", KOORD_GAUGE, "Odd.", &metric) == KOORD_OK)
    r->metrics->series(r->host, metric, KOORD_NO_SUBJECT, NULL, 0, 0, &series);
  append(r, "inf", r->now_ns, series, INFINITY);
  append(r, "future", r->now_ns + 3600000000000u, series, 1);
  append(r, "end-of-time", UINT64_MAX, series, 1);
  append(r, "unknown", r->now_ns, 0xdeadbeefdeadbeefu, 1);
}
