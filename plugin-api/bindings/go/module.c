/* SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include "_cgo_export.h"

/* Defined by KOORD_GO_MANIFEST in the author's main package. Weak, because it is missing when this package is
 * compiled. */
extern const char koord_go_manifest[] __attribute__((weak));

/* ---- thunks: convert the host's types for the functions in calls.go, because cgo cannot express const and void
 * * ---- */

static koord_status create(const koord_host *host, const koord_class *cls, void **self) {
  uintptr_t instance = 0;
  koord_status status = koordGoCreate((koord_host *)host, (char *)cls->name, &instance);
  *self = (void *)instance;
  return status;
}

static koord_status init(void *self) { return koordGoInit((uintptr_t)self); }

static koord_status run(void *self, const koord_stop *stop) { return koordGoRun((uintptr_t)self, stop->fd); }

static koord_status on_event(void *self, uint32_t what, uint64_t version) {
  return koordGoOnEvent((uintptr_t)self, what, version);
}

static koord_status stop(void *self) { return koordGoStop((uintptr_t)self); }

static void destroy(void *self) { koordGoDestroy((uintptr_t)self); }

static koord_status collect(void *self, uint64_t now_ns, uint64_t deadline_ns) {
  return koordGoCollect((uintptr_t)self, now_ns, deadline_ns);
}

static koord_status url(void *self, char *buf, uint64_t cap, uint64_t *need) {
  return koordGoURL((uintptr_t)self, buf, cap, need);
}

static koord_status map_sample(void *self, koord_str name, const koord_label *labels, uint32_t n, uint32_t stride,
                               double *value) {
  return koordGoMapSample((uintptr_t)self, name, (koord_label *)labels, n, stride, value);
}

static koord_status map_metric(void *self, koord_str name, char *buf, uint64_t cap, uint64_t *need) {
  return koordGoMapMetric((uintptr_t)self, name, buf, cap, need);
}

static koord_status evaluate(void *self, uint64_t now_ns, uint64_t deadline_ns) {
  return koordGoEvaluate((uintptr_t)self, now_ns, deadline_ns);
}

static koord_status on_applied(void *self, const koord_intent_result *results, uint32_t n, uint32_t stride) {
  return koordGoOnApplied((uintptr_t)self, (koord_intent_result *)results, n, stride);
}

static koord_status handle(void *self, const koord_hook_request *request, const koord_hook_response *response) {
  return koordGoHandle((uintptr_t)self, (koord_hook_request *)request, (koord_hook_response *)response);
}

/* ---- the module ---- */

typedef union table {
  koord_lifecycle life;
  koord_advisor advisor;
  koord_external_advisor external_advisor;
  koord_qos_strategy qos_strategy;
  koord_runtime_hook runtime_hook;
} table;

static table tables[KOORD_GO_MAX_CLASSES];
static koord_class classes[KOORD_GO_MAX_CLASSES];
static koord_module module = {
    KOORD_MAGIC, sizeof(koord_module), KOORD_ABI_MAJOR, KOORD_ABI_MINOR, 0, sizeof(koord_class),
    0,           koord_go_manifest,    classes};

static const char *const kinds[] = {"koord.advisor/1", "koord.external-advisor/1", "koord.qos-strategy/1",
                                    "koord.runtime-hook/1"};

/* Sets the members that only tables of this kind have, and returns the size of the table. */
static uint32_t fill_kind(table *table, uint32_t kind, uint32_t functions, uint32_t stages) {
  switch (kind) {
    case KOORD_GO_ADVISOR:
      table->advisor.collect = collect;
      return sizeof table->advisor;
    case KOORD_GO_EXTERNAL_ADVISOR:
      table->external_advisor.url = url;
      table->external_advisor.map_sample = functions & KOORD_GO_MAP_SAMPLE ? map_sample : NULL;
      table->external_advisor.map_metric = functions & KOORD_GO_MAP_METRIC ? map_metric : NULL;
      return sizeof table->external_advisor;
    case KOORD_GO_QOS_STRATEGY:
      table->qos_strategy.evaluate = evaluate;
      table->qos_strategy.on_applied = functions & KOORD_GO_ON_APPLIED ? on_applied : NULL;
      return sizeof table->qos_strategy;
    default:
      table->runtime_hook.stages = stages;
      table->runtime_hook.handle = handle;
      return sizeof table->runtime_hook;
  }
}

int koord_go_add(uint32_t kind, koord_class cls, uint32_t functions, uint32_t stages) {
  if (module.n_classes == KOORD_GO_MAX_CLASSES) return 0;
  table *table = &tables[module.n_classes];
  const uint32_t size = fill_kind(table, kind, functions, stages);
  table->life = (koord_lifecycle){.struct_size = size,
                                  .create = create,
                                  .init = init,
                                  .run = functions & KOORD_GO_RUN ? run : NULL,
                                  .on_event = functions & KOORD_GO_ON_EVENT ? on_event : NULL,
                                  .stop = functions & KOORD_GO_STOP ? stop : NULL,
                                  .destroy = destroy};
  cls.kind = kinds[kind];
  cls.vtable = &table->life;
  classes[module.n_classes++] = cls;
  return 1;
}

const koord_module *koord_entry_v1(void) {
  koordGoReady(); /* returns after the author's init functions */
  return &module;
}
