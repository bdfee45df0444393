/* SPDX-License-Identifier: Apache-2.0 */
/* Declares the service koord.state/1 as required, but starts without it. */
#include "sound.h"

static koord_status init(void *instance) {
  sound *self = instance;
  koord_status status = sound_get_services(self);
  return status != KOORD_OK && self->state  ? status
         : KOORD_HAS(self->metrics, append) ? sound_define(self)
                                            : KOORD_E_UNSUPPORTED;
}

static koord_status collect(void *instance, uint64_t now_ns, uint64_t deadline_ns) {
  sound *self = instance;
  return self->state ? sound_collect(instance, now_ns, deadline_ns) : sound_append(self, now_ns, 0);
}

PLUGIN(sound_create, init, NULL, NULL, sound_destroy, collect)
