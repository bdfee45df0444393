/* SPDX-License-Identifier: Apache-2.0 */
/* Ignores the request to stop. */
#include <unistd.h>

#include "sound.h"

static koord_status run(void *instance, const koord_stop *stop) {
  (void)instance, (void)stop;
  while (pause()) continue;
  return KOORD_OK;
}

PLUGIN(sound_create, sound_init, run, NULL, sound_destroy, sound_collect)
