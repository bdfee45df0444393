/* SPDX-License-Identifier: Apache-2.0 */
/* Wants tables of exactly its own size. */
#include "sound.h"

static koord_status init(void *instance) {
  sound *self = instance;
  koord_status status = sound_init(instance);
  return status == KOORD_OK && self->metrics->struct_size != sizeof *self->metrics ? KOORD_E_UNSUPPORTED : status;
}

PLUGIN_OF_INIT(init)
