/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A well-behaved third-party plugin: counts its ticks, and stores its process number where attackers can read it. A
 * real attacker would have to search for the process.
 */
#include <koordetector/plugin.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT(literal) ((koord_str){(literal), sizeof(literal) - 1})

typedef struct {
  const koord_host *host;
  const koord_svc_metrics *metrics;
  const koord_svc_kv *kv;
  uint64_t series;
  double ticks;
} bystander;

static koord_status create(const koord_host *host, const koord_class *cls, void **self) {
  bystander *b = calloc(1, sizeof *b);
  (void)cls;
  if (!b) return KOORD_E_NOMEM;
  b->host = host;
  *self = b;
  return KOORD_OK;
}

static koord_status init(void *self) {
  bystander *b = self;
  const koord_metric_desc desc = {.struct_size = sizeof desc,
                                  .type = KOORD_COUNTER,
                                  .flags = KOORD_METRIC_EXPORT,
                                  .name = TEXT("bystander_ticks"),
                                  .unit = TEXT("ticks"),
                                  .help = TEXT("Ticks of the bystander."),
                                  .resolution = 1};
  uint32_t metric = 0;
  const int64_t pid = getpid();
  b->metrics = b->host->get_service(b->host, "koord.metrics/1");
  b->kv = b->host->get_service(b->host, "koord.kv/1");
  koord_status status = b->metrics->define(b->host, &desc, &metric);
  if (status == KOORD_OK) status = b->metrics->series(b->host, metric, KOORD_NO_SUBJECT, NULL, 0, 0, &b->series);
  if (status == KOORD_OK) status = b->kv->set(b->host, TEXT("series"), &b->series, sizeof b->series, 0);
  if (status == KOORD_OK) status = b->kv->set(b->host, TEXT("pid"), &pid, sizeof pid, 0);
  return status;
}

static koord_status collect(void *self, uint64_t now_ns, uint64_t deadline_ns) {
  bystander *b = self;
  const koord_point point = {b->series, ++b->ticks};
  int64_t pid = 0;
  uint64_t need = 0;
  (void)deadline_ns;
  const koord_status kept = b->kv->get(b->host, TEXT("pid"), &pid, sizeof pid, &need);
  if (kept != KOORD_OK || pid != getpid())
    b->host->log(b->host, KOORD_LOG_ERROR, TEXT("another plugin has changed its key"));
  return b->metrics->append(b->host, now_ns, &point, 1, sizeof point);
}

static void destroy(void *self) { free(self); }

static const koord_advisor advisor = {
    .life = {.struct_size = sizeof advisor, .create = create, .init = init, .destroy = destroy},
    .collect = collect,
};

static const koord_class classes[] = {{.struct_size = sizeof classes[0],
                                       .kind = "koord.advisor/1",
                                       .name = "bystander",
                                       .vtable = &advisor.life,
                                       .period_ns = 100000000u}};

__attribute__((section(KOORD_MANIFEST_SECTION), used)) static const char manifest[] =
    "koord-manifest/1\nid=com.bystander\nversion=1.0.0\nabi=1.0\nkinds=koord.advisor/1\ngate=Bystander\n"
    "requires=koord.metrics/1,koord.kv/1\n";

static const koord_module module = {.magic = KOORD_MAGIC,
                                    .struct_size = sizeof module,
                                    .abi_major = KOORD_ABI_MAJOR,
                                    .abi_minor = KOORD_ABI_MINOR,
                                    .n_classes = 1,
                                    .class_stride = sizeof classes[0],
                                    .manifest = manifest,
                                    .classes = classes};

const koord_module *koord_entry_v1(void) { return &module; }
