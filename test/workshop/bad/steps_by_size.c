/* SPDX-License-Identifier: Apache-2.0 */
/* Iterates over pods with the sizeof of its own plugin.h instead of the host's stride. */
#include "sound.h"

static koord_status collect(void *instance, uint64_t now_ns, uint64_t deadline_ns) {
  sound *self = instance;
  const koord_snapshot *snapshot;
  const koord_pod *pods;
  uint32_t n, stride, named = 0;
  koord_status status = self->state->acquire(self->host, &snapshot);
  (void)deadline_ns;
  if (status != KOORD_OK) return status;
  pods = self->state->pods(snapshot, &n, &stride);
  for (uint32_t i = 0; i < n; ++i) named += pods[i].name.p[0] != '\0';
  self->state->release(self->host, snapshot);
  return sound_append(self, now_ns, named);
}

PLUGIN_OF_COLLECT(collect)
