/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the host of a destroyed instance. */
#include "sound.h"

static const koord_host *gone;

static koord_status init(void *instance) {
  if (gone) gone->log(gone, KOORD_LOG_INFO, text("another session begins"));
  return sound_init(instance);
}

static void destroy(void *instance) {
  gone = ((sound *)instance)->host;
  sound_destroy(instance);
}

PLUGIN(sound_create, init, NULL, NULL, destroy, sound_collect)
