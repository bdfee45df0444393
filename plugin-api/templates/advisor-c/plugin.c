/* @NAME@: counts the tasks of the node that run or wait for a CPU.
 * Replace the metrics that init() defines and the files that collect() reads; the contract is
 * sdk/koordetector/plugin.h. */
#include <koordetector/plugin.h>

#include <stdio.h>
#include <stdlib.h>

#define TEXT(literal) ((koord_str){(literal), sizeof(literal) - 1})

typedef struct {
  const koord_host *host;
  const koord_svc_metrics *metrics;
  const koord_svc_fs *fs;
  const koord_svc_config *config;
  uint64_t load; /* id of the series */
  int64_t minutes;
} plugin;

static const char settings[] =
    "{\"type\": \"object\","
    " \"properties\": {\"minutes\": {\"enum\": [1, 5, 15], \"description\": \"over which the load is averaged\"}},"
    " \"additionalProperties\": false}";

static koord_status fail(const plugin *self, koord_status status, koord_str why) {
  self->host->set_error(self->host, status, why);
  return status;
}

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
  int64_t minutes = 1;
  koord_status status;
  (void)version;
  if (what != KOORD_ON_CONFIG) return KOORD_OK;
  status = self->config->i64(self->host, TEXT("/minutes"), &minutes);
  if (status != KOORD_OK && status != KOORD_E_NOT_FOUND) return status; /* the host has reported the reason */
  self->minutes = minutes;
  return KOORD_OK;
}

/* Called once: gets the services and defines the metrics. */
static koord_status init(void *instance) {
  plugin *self = instance;
  const koord_host *host = self->host;
  const koord_metric_desc desc = {
      .struct_size = sizeof desc,
      .type = KOORD_GAUGE,
      .flags = KOORD_METRIC_EXPORT,
      .name = TEXT("@METRIC@_load"),
      .unit = TEXT("tasks"),
      .help = TEXT("Tasks that run or wait for a CPU, on average."),
      .resolution = 0.01,
  };
  uint32_t metric;
  koord_status status;

  self->metrics = host->get_service(host, "koord.metrics/1");
  self->fs = host->get_service(host, "koord.fs/1");
  self->config = host->get_service(host, "koord.config/1");
  if (!KOORD_HAS(self->metrics, append) || !KOORD_HAS(self->fs, read) || !KOORD_HAS(self->config, i64))
    return fail(self, KOORD_E_UNSUPPORTED, TEXT("expected a host with koord.metrics/1, koord.fs/1 and koord.config/1"));

  if ((status = self->metrics->define(host, &desc, &metric)) != KOORD_OK) return status;
  status = self->metrics->series(host, metric, KOORD_NO_SUBJECT, NULL, 0, 0, &self->load);
  return status == KOORD_OK ? on_event(self, KOORD_ON_CONFIG, 0) : status;
}

/* Called every period. Reads the file and appends a value. If it fails, only this tick fails; the next tries again. */
static koord_status collect(void *instance, uint64_t now_ns, uint64_t deadline_ns) {
  plugin *self = instance;
  koord_point point = {self->load, 0};
  char text[128];
  uint64_t length;
  double one, five, fifteen;
  koord_status status = self->fs->read(self->host, KOORD_ROOT_PROC, TEXT("loadavg"), text, sizeof text - 1, &length);
  (void)deadline_ns;
  if (status != KOORD_OK) return status;

  /* In "0.52 0.48 0.40 2/310 4711", the first three numbers are averages over one, five and fifteen minutes. */
  text[length] = '\0';
  if (sscanf(text, "%lf %lf %lf", &one, &five, &fifteen) != 3)
    return fail(self, KOORD_E_IO, TEXT("/proc/loadavg: expected three numbers at its beginning"));
  point.value = self->minutes == 1 ? one : self->minutes == 5 ? five : fifteen;
  return self->metrics->append(self->host, now_ns, &point, 1, sizeof point);
}

static const koord_advisor advisor = {
    .life = {.struct_size = sizeof advisor, .create = create, .init = init, .on_event = on_event, .destroy = destroy},
    .collect = collect,
};

static const koord_class classes[] = {{
    .struct_size = sizeof classes[0],
    .kind = "koord.advisor/1",
    .name = "load",
    .config_schema = settings,
    .vtable = &advisor.life,
    .period_ns = 1000000000u,
}};

__attribute__((section(KOORD_MANIFEST_SECTION), used)) static const char manifest[] =
    "koord-manifest/1\n"
    "id=@ID@\n"
    "version=0.1.0\n"
    "abi=" KOORD_ABI_TEXT "\n"
    "kinds=koord.advisor/1\n"
    "gate=@GATE@\n"
    "requires=koord.metrics/1,koord.fs/1,koord.config/1\n"
    "description=the load of the node\n";

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
