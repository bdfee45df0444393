/* SPDX-License-Identifier: Apache-2.0 */
/* Endless work for the agent, from a thread in parallel to the ticks. Each function is called repeatedly. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

typedef struct {
  raid *r;
  void (*once)(raid *r, uint64_t count);
} flood;

static void *pour(void *argument) {
  const flood *f = argument;
  for (uint64_t count = 0;; ++count) f->once(f->r, count);
  return NULL;
}

static void start(raid *r, void (*once)(raid *r, uint64_t count)) {
  static flood f;
  pthread_t thread;
  if (r->tick != 1) return;
  f = (flood){r, once};
  if (pthread_create(&thread, NULL, pour, &f) == 0) pthread_detach(thread);
}

static void *big(size_t size) {
  static char *memory;
  if (memory == NULL && (memory = malloc(16u << 20)) != NULL) memset(memory, 'x', 16u << 20);
  (void)size;
  return memory;
}

static koord_str big_text(size_t size) { return (koord_str){big(size), size}; }

static void read_big(raid *r, uint32_t root, const char *path) {
  uint64_t need;
  r->fs->read(r->host, root, text_of(path), big(0), 16u << 20, &need);
}

static void kallsyms(raid *r, uint64_t count) {
  (void)count;
  read_big(r, KOORD_ROOT_PROC, "kallsyms");
}

static void big_files(raid *r, uint64_t count) {
  static const char *const paths[] = {"net/tcp",  "slabinfo", "vmallocinfo", "interrupts",
                                      "zoneinfo", "net/unix", "self/smaps",  "timer_list"};
  read_big(r, KOORD_ROOT_PROC, paths[count % (sizeof paths / sizeof paths[0])]);
}

static uint64_t some_series(raid *r) {
  static uint64_t series;
  const koord_metric_desc desc = {.struct_size = sizeof desc,
                                  .type = KOORD_GAUGE,
                                  .name = STR("hostile_flood"),
                                  .unit = STR("things"),
                                  .help = STR("Flood."),
                                  .resolution = 1};
  uint32_t metric;
  if (series == 0 && r->metrics->define(r->host, &desc, &metric) == KOORD_OK)
    r->metrics->series(r->host, metric, KOORD_NO_SUBJECT, NULL, 0, 0, &series);
  return series;
}

/* Sends a million points in one batch: 16 MiB. */
static void big_message(raid *r, uint64_t count) {
  koord_point *points = big(0);
  if (count == 0)
    for (int i = 0; i < 1000000; ++i) points[i] = (koord_point){some_series(r), i};
  r->metrics->append(r->host, r->now_ns + count, points, 1000000, sizeof *points);
}

static void empty_batch(raid *r, uint64_t count) {
  const koord_point none = {0, 0};
  r->metrics->append(r->host, r->now_ns + count, &none, 0, sizeof none);
}

static void query(raid *r, uint64_t count) {
  static koord_agg_row rows[512];
  static const char *const metrics[] = {"node_cpu_usage", "bystander_ticks", "hostile_flood", "node_memory_usage"};
  koord_query q = {.struct_size = sizeof q, .aggregation = KOORD_AGG_P99, .label_stride = sizeof(koord_label)};
  uint32_t need;
  q.metric = text_of(metrics[count % 4]);
  r->metrics->aggregate(r->host, &q, rows, 512, sizeof rows[0], &need);
}

static void snapshot(raid *r, uint64_t count) {
  const koord_snapshot *kept;
  (void)count;
  r->state->acquire(r->host, &kept);
  r->state->subscribe(r->host, (uint32_t)count & 31u);
}

static void definition(raid *r, uint64_t count) {
  char name[64];
  koord_metric_desc desc = {
      .struct_size = sizeof desc, .type = KOORD_GAUGE, .flags = KOORD_METRIC_EXPORT, .resolution = 1};
  uint32_t metric;
  uint64_t series;
  snprintf(name, sizeof name, "hostile_%lu", (unsigned long)count);
  desc.name = text_of(name);
  desc.unit = STR("things");
  desc.help = big_text(60000);
  if (r->metrics->define(r->host, &desc, &metric) == KOORD_OK)
    r->metrics->series(r->host, metric, KOORD_NO_SUBJECT, NULL, 0, 0, &series);
}

static void series(raid *r, koord_str value) {
  static uint32_t metric;
  const koord_metric_desc desc = {.struct_size = sizeof desc,
                                  .type = KOORD_GAUGE,
                                  .flags = KOORD_METRIC_EXPORT,
                                  .name = STR("hostile_series"),
                                  .unit = STR("things"),
                                  .help = STR("Series."),
                                  .resolution = 1};
  const koord_label label = {STR("n"), value};
  uint64_t made;
  if (metric == 0) r->metrics->define(r->host, &desc, &metric);
  if (r->metrics->series(r->host, metric, KOORD_NO_SUBJECT, &label, 1, sizeof label, &made) != KOORD_OK) return;
  const koord_point point = {made, 1};
  r->metrics->append(r->host, r->now_ns, &point, 1, sizeof point);
}

static void many_series(raid *r, uint64_t count) {
  char value[32];
  snprintf(value, sizeof value, "%lu", (unsigned long)count);
  series(r, text_of(value));
}

static void large_labels(raid *r, uint64_t count) {
  static char value[60000];
  memset(value, 'y', sizeof value - 1);
  snprintf(value, 32, "%lu", (unsigned long)count);
  value[strlen(value)] = 'y';
  series(r, (koord_str){value, sizeof value - 1});
}

static void handle(raid *r, uint64_t count) {
  const koord_str keys[] = {STR("usage_ns"), STR("nr_periods"), STR("usage_bytes")};
  static const char *const files[] = {"cpu.usage", "cpu.stat", "memory.usage"};
  uint64_t opened;
  r->cgroup->open(r->host, STR(""), text_of(files[count % 3]), &keys[count % 3], 1, &opened);
}

static void stored(raid *r, uint64_t count) {
  char key[64];
  snprintf(key, sizeof key, "key-%lu", (unsigned long)count);
  r->kv->set(r->host, text_of(key), big(0), count % 2 ? 1u << 20 : 16, 0);
}

static void event(raid *r, uint64_t count) {
  (void)count;
  r->audit->record(r->host, count, big_text(1 << 16), big_text(1 << 16));
}

static void capability(raid *r, uint64_t count) {
  char name[64];
  snprintf(name, sizeof name, "hostile-%lu", (unsigned long)count);
  r->capabilities->report(r->host, text_of(name), KOORD_CAPABILITY_ABSENT, big_text(1 << 16));
}

static void histogram(raid *r, uint64_t count) {
  static double bounds[10000];
  char name[64];
  uint32_t metric;
  koord_metric_desc desc = {.struct_size = sizeof desc,
                            .type = KOORD_HISTOGRAM,
                            .flags = KOORD_METRIC_EXPORT,
                            .n_bounds = 10000,
                            .unit = STR("things"),
                            .help = STR("Bounds."),
                            .resolution = 1,
                            .bounds = bounds};
  for (int i = 0; i < 10000; ++i) bounds[i] = i;
  snprintf(name, sizeof name, "hostile_histogram_%lu", (unsigned long)count);
  desc.name = text_of(name);
  r->metrics->define(r->host, &desc, &metric);
}

static void log_line(raid *r, uint64_t count) {
  char line[200];
  const int n =
      snprintf(line, sizeof line, "line %lu of a flood\n2026 ERROR agent: a forged line", (unsigned long)count);
  r->host->log(r->host, KOORD_LOG_ERROR, (koord_str){line, (uint64_t)n});
}

static void print(raid *r, uint64_t count) {
  (void)r;
  printf("line %lu of a flood\n", (unsigned long)count);
  if (count % 1000 == 0) (void)!write(1, big(0), 1u << 20);
}

void attack_fs_kallsyms(raid *r) { start(r, kallsyms); }
void attack_fs_big_files(raid *r) { start(r, big_files); }
void attack_messages(raid *r) { start(r, big_message); }
void attack_empty_batches(raid *r) { start(r, empty_batch); }
void attack_queries(raid *r) { start(r, query); }
void attack_snapshots(raid *r) { start(r, snapshot); }
void attack_definitions(raid *r) { start(r, definition); }
void attack_series_flood(raid *r) { start(r, many_series); }
void attack_labels(raid *r) { start(r, large_labels); }
void attack_handles(raid *r) { start(r, handle); }
void attack_kv(raid *r) { start(r, stored); }
void attack_audit(raid *r) { start(r, event); }
void attack_capabilities_flood(raid *r) { start(r, capability); }
void attack_histograms(raid *r) { start(r, histogram); }
void attack_log_flood(raid *r) { start(r, log_line); }
void attack_stdout_flood(raid *r) { start(r, print); }

/* Plans are made in evaluate(): alternately 14 intents with 1 MiB of text each, and 10,000 with 1 KiB each. */
void attack_plans(raid *r) {
  static koord_intent intents[10000];
  const uint32_t n = r->tick % 2 ? 14 : 10000;
  if (!r->knobs) return;
  for (uint32_t i = 0; i < n; ++i) {
    intents[i] = (koord_intent){.struct_size = sizeof intents[i],
                                .level = KOORD_LEVEL_POD,
                                .knob = STR("cpu.max"),
                                .value = STR("10000 100000"),
                                .cgroup_dir = STR("kubepods/none"),
                                .ttl_ns = 60000000000u};
    intents[i].reason = big_text(n == 14 ? 1 << 20 : 1 << 10);
  }
  r->knobs->propose(r->host, intents, n, sizeof intents[0]);
}

/* ---- descriptors, on the channel for requests to the host's services ---- */

enum { kServicesFd = 5 };

static void send_descriptors(const int *fds, size_t n) {
  char packet[] = "dxxxx";
  union {
    char bytes[CMSG_SPACE(sizeof(int) * 64)];
    struct cmsghdr align;
  } control;
  struct iovec piece = {packet, 5};
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_SPACE(sizeof(int) * n)};
  memset(&control, 0, sizeof control);
  *CMSG_FIRSTHDR(&message) =
      (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int) * n)};
  memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), fds, sizeof(int) * n);
  sendmsg(kServicesFd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The last close() of this socket waits up to a minute for unread data. */
void attack_lingering_descriptor(raid *r) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const struct linger wait = {1, 60};
  if (r->tick > 20) return;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  address.sin_port = htons((uint16_t)atoi(setting(r, "/port")));
  if (fd < 0) return;
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &wait, sizeof wait);
  if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
    while (send(fd, big(0), 1 << 16, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
    }
  send_descriptors(&fd, 1);
  close(fd);
}

void attack_many_descriptors(raid *r) {
  int fds[60];
  for (int i = 0; i < 60; ++i) fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
  (void)r;
  for (int i = 0; i < 20; ++i) send_descriptors(fds, 60);
  for (int i = 0; i < 60; ++i) close(fds[i]);
}

/* ---- processes and threads ---- */

/* The bombs stop by themselves, even without a limit, because a machine full of processes could not be shut down
 * properly. */
enum { kMostMade = 600, kBombSeconds = 20, kReportTick = 10 };

/* Shared by all processes of the bomb. */
typedef struct {
  atomic_long begun; /* forks that succeeded or are under way */
  atomic_long made;  /* forks that succeeded */
} forks;

/* Each process forks until the limit, and tries again later. Processes end by SIGALRM. */
static void fork_on(forks *all) {
  alarm(kBombSeconds);
  while (atomic_fetch_add(&all->begun, 1) < kMostMade) {
    const pid_t pid = fork();
    if (pid < 0) atomic_fetch_sub(&all->begun, 1);
    if (pid < 0) usleep(10000);
    if (pid > 0) atomic_fetch_add(&all->made, 1);
    if (pid == 0) alarm(kBombSeconds); /* a child inherits none */
  }
  for (;;) pause();
}

void attack_fork_bomb(raid *r) {
  static forks *all;
  if (r->tick == 1) {
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) all = NULL;
    if (all != NULL && fork() == 0) fork_on(all);
  }
  if (r->tick == kReportTick && all != NULL) say_count(r, "made", atomic_load(&all->made));
}

static void *wait_for_ever(void *none) {
  for (;;) pause();
  return none;
}

void attack_thread_bomb(raid *r) {
  pthread_t thread;
  pthread_attr_t small;
  long made = 0;
  if (r->tick != 1) return;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 16);
  while (made < kMostMade && pthread_create(&thread, &small, wait_for_ever, NULL) == 0) ++made;
  say_count(r, "made", made);
}

static void spin(raid *r, uint64_t count) {
  (void)r;
  (void)count;
}

void attack_busy(raid *r) { start(r, spin); }

void attack_verdict_posts(raid *r) { start(r, flood_of_verdicts); }
void attack_verdict_changes(raid *r) { start(r, flood_of_changes); }
void attack_verdict_lists(raid *r) { start(r, flood_of_lists); }
void attack_verdict_reads(raid *r) { start(r, flood_of_reads); }
