/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses a service table that is longer than in its own plugin.h. */
#include "sound.h"

static koord_status init(void *instance) {
  sound *self = instance;
  koord_status status = sound_init(instance);
  return status == KOORD_OK && self->metrics->struct_size != sizeof *self->metrics ? KOORD_E_UNSUPPORTED : status;
}

PLUGIN_OF_INIT(init)
