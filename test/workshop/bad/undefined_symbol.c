/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a function that no library defines. */
#include "sound.h"

extern int defined_nowhere(void);

static koord_status init(void *instance) {
  defined_nowhere();
  return sound_init(instance);
}

PLUGIN_OF_INIT(init)
