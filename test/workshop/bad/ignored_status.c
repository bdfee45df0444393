/* SPDX-License-Identifier: Apache-2.0 */
/* Uses a snapshot without checking the status of acquire(). */
#include "sound.h"

static koord_status collect(void *instance, uint64_t now_ns, uint64_t deadline_ns) {
  sound *self = instance;
  const koord_snapshot *snapshot = NULL;
  uint32_t labels;
  (void)deadline_ns;
  self->state->acquire(self->host, &snapshot);
  labels = self->state->node(snapshot)->n_labels;
  self->state->release(self->host, snapshot);
  return sound_append(self, now_ns, labels);
}

PLUGIN_OF_COLLECT(collect)
