/* @NAME@: limits the CPU time of every best-effort pod.
 * evaluate() only proposes; the agent decides, writes and reverts. The contract is sdk/koordetector/plugin.h. */
#include <koordetector/plugin.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) ((koord_str){(literal), sizeof(literal) - 1})

typedef struct {
  const koord_host *host;
  const koord_svc_state *state;
  const koord_svc_knobs *knobs;
  const koord_svc_config *config;
  char ceiling[48]; /* "quota period" for cpu.max, in microseconds */
} plugin;

static const char settings[] =
    "{\"type\": \"object\","
    " \"properties\": {\"milliCores\": {\"type\": \"integer\", \"minimum\": 10, \"maximum\": 1000000,"
    " \"description\": \"what a best-effort pod may use at most\"}},"
    " \"additionalProperties\": false}";

static koord_status create(const koord_host *host, const koord_class *cls, void **out) {
  plugin *self = calloc(1, sizeof *self);
  (void)cls;
  if (!self) return KOORD_E_NOMEM;
  self->host = host;
  *out = self;
  return KOORD_OK;
}

static void destroy(void *instance) { free(instance); }

/* Called at start, and when an operator has changed the settings. */
static koord_status on_event(void *instance, uint32_t what, uint64_t version) {
  plugin *self = instance;
  int64_t milli_cores = 500;
  koord_status status;
  (void)version;
  if (what != KOORD_ON_CONFIG) return KOORD_OK;
  status = self->config->i64(self->host, TEXT("/milliCores"), &milli_cores);
  if (status != KOORD_OK && status != KOORD_E_NOT_FOUND) return status; /* the host has reported the reason */
  snprintf(self->ceiling, sizeof self->ceiling, "%" PRId64 " 100000", milli_cores * 100);
  return KOORD_OK;
}

static koord_status init(void *instance) {
  plugin *self = instance;
  const koord_host *host = self->host;
  self->state = host->get_service(host, "koord.state/1");
  self->knobs = host->get_service(host, "koord.knobs/1");
  self->config = host->get_service(host, "koord.config/1");
  if (KOORD_HAS(self->state, pods) && KOORD_HAS(self->knobs, propose) && KOORD_HAS(self->config, i64))
    return on_event(self, KOORD_ON_CONFIG, 0);
  host->set_error(host, KOORD_E_UNSUPPORTED,
                  TEXT("expected a host with koord.state/1, koord.knobs/1 and koord.config/1"));
  return KOORD_E_UNSUPPORTED;
}

static koord_status propose(const plugin *self, const koord_pod *pod) {
  const koord_intent intent = {
      .struct_size = sizeof intent,
      .level = KOORD_LEVEL_POD,
      .knob = TEXT("cpu.max"),
      .cgroup_dir = pod->cgroup_dir,
      .value = {self->ceiling, strlen(self->ceiling)},
      .reason = TEXT("best-effort pods have a ceiling"),
      .ttl_ns = 60000000000u,
  };
  return self->knobs->propose(self->host, &intent, 1, sizeof intent);
}

/* Called every period. All intents of one call are one plan, which replaces the previous plan. */
static koord_status evaluate(void *instance, uint64_t now_ns, uint64_t deadline_ns) {
  plugin *self = instance;
  const koord_snapshot *snapshot;
  uint32_t n, stride;
  koord_status status = self->state->acquire(self->host, &snapshot);
  (void)now_ns, (void)deadline_ns;
  if (status != KOORD_OK) return status; /* the state is still unknown */

  const char *at = (const char *)self->state->pods(snapshot, &n, &stride);
  for (uint32_t i = 0; i < n && status == KOORD_OK; ++i, at += stride) {
    const koord_pod *pod = (const koord_pod *)(const void *)at;
    if (pod->kube_qos == KOORD_KUBE_QOS_BEST_EFFORT && pod->cgroup_dir.n > 0) status = propose(self, pod);
  }
  self->state->release(self->host, snapshot);
  return status;
}

static const koord_qos_strategy strategy = {
    .life = {.struct_size = sizeof strategy, .create = create, .init = init, .on_event = on_event, .destroy = destroy},
    .evaluate = evaluate,
};

static const koord_class classes[] = {{
    .struct_size = sizeof classes[0],
    .kind = "koord.qos-strategy/1",
    .name = "ceiling",
    .config_schema = settings,
    .vtable = &strategy.life,
    .period_ns = 10000000000u,
}};

__attribute__((section(KOORD_MANIFEST_SECTION), used)) static const char manifest[] =
    "koord-manifest/1\n"
    "id=@ID@\n"
    "version=0.1.0\n"
    "abi=" KOORD_ABI_TEXT "\n"
    "kinds=koord.qos-strategy/1\n"
    "gate=@GATE@\n"
    "requires=koord.state/1,koord.knobs/1,koord.config/1\n"
    "description=a ceiling of CPU time for best-effort pods\n";

static const koord_module module = {
    .magic = KOORD_MAGIC,
    .struct_size = sizeof module,
    .abi_major = KOORD_ABI_MAJOR,
    .abi_minor = KOORD_ABI_MINOR,
    .n_classes = sizeof classes / sizeof classes[0],
    .class_stride = sizeof classes[0],
    .manifest = manifest,
    .classes = classes,
};

const koord_module *koord_entry_v1(void) { return &module; }
