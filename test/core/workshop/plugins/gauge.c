/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin of every kind: an advisor that reports the load average, a strategy that caps best-effort pods when the load
 * is high, a hook and an external advisor. Used by the tests of the workshop. */
#include <koordetector/plugin.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STR(text) ((koord_str){text, sizeof(text) - 1})

typedef struct {
  const koord_host *host;
  const koord_svc_metrics *metrics;
  const koord_svc_fs *fs;
  const koord_svc_state *state;
  const koord_svc_knobs *knobs;
  uint64_t load;
  double cap_above;
  int64_t hook_seconds; /* how long a hook takes */
  uint64_t pods_seen;
} gauge;

static koord_status create(const koord_host *host, const koord_class *cls, void **self) {
  gauge *g = calloc(1, sizeof *g);
  (void)cls;
  if (!g) return KOORD_E_NOMEM;
  g->host = host;
  *self = g;
  return KOORD_OK;
}

static void destroy(void *self) { free(self); }

static koord_status read_config(gauge *g) {
  const koord_svc_config *config = g->host->get_service(g->host, "koord.config/1");
  g->cap_above = 1;
  g->hook_seconds = 0;
  if (config) config->i64(g->host, STR("/hookSeconds"), &g->hook_seconds);
  koord_status status = config ? config->f64(g->host, STR("/capAbove"), &g->cap_above) : KOORD_E_NOT_FOUND;
  return status == KOORD_E_NOT_FOUND ? KOORD_OK : status;
}

static koord_status init(void *self) {
  gauge *g = self;
  g->metrics = g->host->get_service(g->host, "koord.metrics/1");
  g->fs = g->host->get_service(g->host, "koord.fs/1");
  g->state = g->host->get_service(g->host, "koord.state/1");
  g->knobs = g->host->get_service(g->host, "koord.knobs/1");
  if (!KOORD_HAS(g->metrics, append) || !KOORD_HAS(g->fs, read) || !KOORD_HAS(g->state, subscribe))
    return KOORD_E_UNSUPPORTED;
  g->state->subscribe(g->host, KOORD_ON_PODS);
  return read_config(g);
}

static koord_status init_strategy(void *self) {
  gauge *g = self;
  koord_status status = init(self);
  return status == KOORD_OK && !KOORD_HAS(g->knobs, propose) ? KOORD_E_UNSUPPORTED : status;
}

static koord_status init_advisor(void *self) {
  gauge *g = self;
  koord_metric_desc desc = {sizeof desc,
                            KOORD_GAUGE,
                            KOORD_METRIC_EXPORT,
                            0,
                            STR("gauge_load"),
                            STR("threads"),
                            STR("The load average of one minute."),
                            0.01,
                            NULL};
  uint32_t metric;
  koord_status status = init(self);
  if (status == KOORD_OK) status = g->metrics->define(g->host, &desc, &metric);
  if (status == KOORD_OK) status = g->metrics->series(g->host, metric, KOORD_NO_SUBJECT, NULL, 0, 0, &g->load);
  return status;
}

static koord_status read_load(gauge *g, double *load) {
  char text[128];
  uint64_t need = 0;
  koord_status status = g->fs->read(g->host, KOORD_ROOT_PROC, STR("loadavg"), text, sizeof text - 1, &need);
  if (status != KOORD_OK) return status;
  text[need] = '\0';
  *load = strtod(text, NULL);
  return KOORD_OK;
}

static koord_status collect(void *self, uint64_t now_ns, uint64_t deadline_ns) {
  gauge *g = self;
  koord_point point = {g->load, 0};
  koord_status status = read_load(g, &point.value);
  (void)deadline_ns;
  return status == KOORD_OK ? g->metrics->append(g->host, now_ns, &point, 1, sizeof point) : status;
}

static koord_status on_event(void *self, uint32_t what, uint64_t version) {
  gauge *g = self;
  if (what == KOORD_ON_PODS) g->pods_seen = version;
  return what == KOORD_ON_CONFIG ? read_config(g) : KOORD_OK;
}

/* Every pod below the cap, when the load is above it. */
static koord_status evaluate(void *self, uint64_t now_ns, uint64_t deadline_ns) {
  gauge *g = self;
  double load;
  const koord_snapshot *snapshot;
  uint32_t n = 0, stride = 0;
  koord_status status = read_load(g, &load);
  (void)now_ns, (void)deadline_ns;
  if (status != KOORD_OK || load <= g->cap_above) return status;
  if ((status = g->state->acquire(g->host, &snapshot)) != KOORD_OK) return status;
  const char *pod = (const char *)g->state->pods(snapshot, &n, &stride);
  for (uint32_t i = 0; i < n && status == KOORD_OK; ++i, pod += stride) {
    const koord_pod *p = (const koord_pod *)(const void *)pod;
    koord_label input = {STR("load"), STR("high")};
    koord_intent intent = {.struct_size = sizeof intent,
                           .level = KOORD_LEVEL_POD,
                           .knob = STR("cpu.max"),
                           .cgroup_dir = p->cgroup_dir,
                           .value = STR("10000 100000"),
                           .reason = STR("the load is high"),
                           .inputs = &input,
                           .n_inputs = 1,
                           .input_stride = sizeof input,
                           .priority = 1,
                           .ttl_ns = 60000000000u};
    status = g->knobs->propose(g->host, &intent, 1, sizeof intent);
  }
  g->state->release(g->host, snapshot);
  return status;
}

static koord_status handle(void *self, const koord_hook_request *request, const koord_hook_response *response) {
  gauge *g = self;
  if (g->hook_seconds > 0) sleep((unsigned)g->hook_seconds);
  if (request->pod->priority < 0) return response->reject(response, STR("a negative priority"));
  return response->set(response, STR("linux.cpu.shares"), request->container ? STR("512") : STR("1024"));
}

static koord_status url(void *self, char *buf, uint64_t cap, uint64_t *need) {
  gauge *g = self;
  const koord_svc_config *config = g->host->get_service(g->host, "koord.config/1");
  static const char text[] = "http://127.0.0.1:9100/metrics";
  koord_status status = config ? config->string(g->host, STR("/url"), buf, cap, need) : KOORD_E_NOT_FOUND;
  if (status != KOORD_E_NOT_FOUND) return status;
  *need = sizeof text - 1;
  if (cap < *need) return KOORD_E_TOO_SMALL;
  memcpy(buf, text, *need);
  return KOORD_OK;
}

static koord_status map_sample(void *self, koord_str name, const koord_label *labels, uint32_t n, uint32_t stride,
                               double *value) {
  (void)self, (void)labels, (void)n, (void)stride;
  *value *= 2;
  return name.n > 3 && memcmp(name.p, "go_", 3) == 0 ? KOORD_E_NOT_FOUND : KOORD_OK;
}

static const koord_advisor advisor = {{sizeof advisor, 0, create, init_advisor, NULL, on_event, NULL, destroy},
                                      collect};
static const koord_qos_strategy strategy = {
    {sizeof strategy, 0, create, init_strategy, NULL, on_event, NULL, destroy}, evaluate, NULL};
static const koord_runtime_hook hook = {{sizeof hook, 0, create, init, NULL, NULL, NULL, destroy},
                                        KOORD_STAGE_PRE_RUN_POD_SANDBOX | KOORD_STAGE_PRE_CREATE_CONTAINER,
                                        0,
                                        handle};
static const koord_external_advisor external = {
    {sizeof external, 0, create, init, NULL, NULL, NULL, destroy}, url, map_sample, NULL, NULL, NULL, NULL};

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"capAbove\":{\"type\":\"number\"},\"url\":{\"type\":\"string\"},\"hookSeconds\":{\"type\":\"integer\"}},\"additionalProperties\":false}";
static const koord_class classes[] = {
    {sizeof(koord_class), 0, "koord.advisor/1", "load", schema, &advisor.life, 1000000000u},
    {sizeof(koord_class), 0, "koord.qos-strategy/1", "cap", schema, &strategy.life, 1000000000u},
    {sizeof(koord_class), 0, "koord.runtime-hook/1", "shares", schema, &hook.life, 0},
    {sizeof(koord_class), 0, "koord.external-advisor/1", "node-exporter", schema, &external.life, 1000000000u},
};
static const char manifest[] __attribute__((section(KOORD_MANIFEST_SECTION), used)) =
    "koord-manifest/1\n"
    "id=com.example.gauge\n"
    "version=1.0.0\n"
    "abi=" KOORD_ABI_TEXT "\n"
    "kinds=koord.advisor/1,koord.qos-strategy/1,koord.runtime-hook/1,koord.external-advisor/1\n"
    "gate=Gauge\n"
    "requires=koord.metrics/1,koord.fs/1,koord.state/1\n"
    "optional=koord.config/1,koord.knobs/1\n";
static const koord_module module = {
    KOORD_MAGIC, sizeof module, KOORD_ABI_MAJOR, KOORD_ABI_MINOR, 4, sizeof(koord_class), 0, manifest, classes};

const koord_module *koord_entry_v1(void) { return &module; }
