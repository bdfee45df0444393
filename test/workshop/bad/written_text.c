/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a pod's name in capitals into the host's own text. */
#include "sound.h"

static koord_status collect(void *instance, uint64_t now_ns, uint64_t deadline_ns) {
  sound *self = instance;
  const koord_snapshot *snapshot;
  const koord_pod *first;
  uint32_t n, stride;
  koord_status status = self->state->acquire(self->host, &snapshot);
  (void)deadline_ns;
  if (status != KOORD_OK) return status;
  first = self->state->pods(snapshot, &n, &stride);
  if (n > 0 && first->name.n > 0) ((char *)(uintptr_t)first->name.p)[0] = 'P';
  self->state->release(self->host, snapshot);
  return sound_append(self, now_ns, n);
}

PLUGIN_OF_COLLECT(collect)
