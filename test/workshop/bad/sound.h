/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a sound plugin, an advisor that counts pods. Each plugin of this folder uses all these parts except one,
 * and its own part breaks one rule. Each plugin includes this file once.
 */
#ifndef KOORD_TEST_SOUND_H
#define KOORD_TEST_SOUND_H

#include <koordetector/plugin.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-function"

static koord_str text(const char *literal) {
  koord_str made;
  made.p = literal;
  made.n = strlen(literal);
  return made;
}

typedef struct {
  const koord_host *host;
  const koord_svc_metrics *metrics;
  const koord_svc_state *state;
  const koord_svc_config *config; /* optional */
  uint64_t series;
} sound;

static koord_status sound_create(const koord_host *host, const koord_class *cls, void **out) {
  sound *self = (sound *)calloc(1, sizeof *self);
  (void)cls;
  if (!self) return KOORD_E_NOMEM;
  self->host = host;
  *out = self;
  return KOORD_OK;
}

static koord_status sound_get_services(sound *self) {
  const koord_host *host = self->host;
  self->metrics = (const koord_svc_metrics *)host->get_service(host, "koord.metrics/1");
  self->state = (const koord_svc_state *)host->get_service(host, "koord.state/1");
  self->config = (const koord_svc_config *)host->get_service(host, "koord.config/1");
  if (KOORD_HAS(self->metrics, append) && KOORD_HAS(self->state, node_slo)) return KOORD_OK;
  host->set_error(host, KOORD_E_UNSUPPORTED, text("no metrics or no state here"));
  return KOORD_E_UNSUPPORTED;
}

static koord_status sound_define(sound *self) {
  koord_metric_desc desc;
  uint32_t metric;
  koord_status status;
  memset(&desc, 0, sizeof desc);
  desc.struct_size = sizeof desc;
  desc.type = KOORD_GAUGE;
  desc.name = text("test_pods");
  desc.resolution = 1;
  status = self->metrics->define(self->host, &desc, &metric);
  if (status != KOORD_OK) return status;
  return self->metrics->series(self->host, metric, KOORD_NO_SUBJECT, NULL, 0, 0, &self->series);
}

static koord_status sound_init(void *instance) {
  koord_status status = sound_get_services((sound *)instance);
  return status != KOORD_OK ? status : sound_define((sound *)instance);
}

static koord_status sound_append(sound *self, uint64_t now_ns, uint32_t pods) {
  koord_point point;
  point.series = self->series;
  point.value = pods;
  return self->metrics->append(self->host, now_ns, &point, 1, sizeof point);
}

static koord_status sound_collect(void *instance, uint64_t now_ns, uint64_t deadline_ns) {
  sound *self = (sound *)instance;
  const koord_snapshot *snapshot;
  uint32_t n = 0, stride = 0;
  koord_status status = self->state->acquire(self->host, &snapshot);
  (void)deadline_ns;
  if (status != KOORD_OK) return status;
  self->state->pods(snapshot, &n, &stride);
  self->state->release(self->host, snapshot);
  return sound_append(self, now_ns, n);
}

static void sound_destroy(void *instance) { free(instance); }

#define SOUND_ID "koord-manifest/1\nid=com.example.bad\nversion=1.0.0\nabi=1.0\nkinds=koord.advisor/1\n"
#define SOUND_MANIFEST SOUND_ID "gate=BadPlugin\nrequires=koord.metrics/1,koord.state/1\noptional=koord.config/1\n"

#define PLUGIN_TABLES(create, init, run, stop, destroy, collect)                                               \
  static const koord_advisor advisor = {{sizeof advisor, 0, create, init, run, NULL, stop, destroy}, collect}; \
  static const koord_class classes[] = {                                                                       \
      {sizeof classes[0], 0, "koord.advisor/1", "bad", NULL, &advisor.life, 1000000000u}};

#define PLUGIN_MANIFEST(text) \
  __attribute__((section(KOORD_MANIFEST_SECTION), used)) static const char manifest[] = text;

#define PLUGIN_MODULE(name, text)    \
  static const koord_module name = { \
      KOORD_MAGIC, sizeof name, KOORD_ABI_MAJOR, KOORD_ABI_MINOR, 1, sizeof(koord_class), 0, text, classes};

#define PLUGIN_ENTRY \
  const koord_module *koord_entry_v1(void) { return &module; }

/* Defines the plugin from these functions: the plugin's own functions, and sound_* for the others. */
#define PLUGIN(create, init, run, stop, destroy, collect)  \
  PLUGIN_TABLES(create, init, run, stop, destroy, collect) \
  PLUGIN_MANIFEST(SOUND_MANIFEST)                          \
  PLUGIN_MODULE(module, manifest)                          \
  PLUGIN_ENTRY

#define PLUGIN_OF_INIT(init) PLUGIN(sound_create, init, NULL, NULL, sound_destroy, sound_collect)
#define PLUGIN_OF_COLLECT(collect) PLUGIN(sound_create, sound_init, NULL, NULL, sound_destroy, collect)
#define SOUND_PLUGIN PLUGIN_OF_INIT(sound_init)

#endif
