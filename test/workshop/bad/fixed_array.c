/* SPDX-License-Identifier: Apache-2.0 */
/* Has an array for 64 pods and does not check the number of pods. */
#include "sound.h"

static koord_status collect(void *instance, uint64_t now_ns, uint64_t deadline_ns) {
  sound *self = instance;
  volatile uint64_t handles[64];
  const koord_snapshot *snapshot;
  const char *pod;
  uint32_t n, stride;
  koord_status status = self->state->acquire(self->host, &snapshot);
  (void)deadline_ns;
  if (status != KOORD_OK) return status;
  pod = (const char *)self->state->pods(snapshot, &n, &stride);
  for (uint32_t i = 0; i < n; ++i) handles[i] = ((const koord_pod *)(pod + (size_t)i * stride))->handle;
  self->state->release(self->host, snapshot);
  return sound_append(self, now_ns, n && handles[0] == 0 ? 0 : n);
}

PLUGIN_OF_COLLECT(collect)
