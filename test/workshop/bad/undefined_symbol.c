/* SPDX-License-Identifier: Apache-2.0 */
/* Calls what no library has. */
#include "sound.h"

extern int nobody_defines_this(void);

static koord_status init(void *instance) {
  nobody_defines_this();
  return sound_init(instance);
}

PLUGIN_OF_INIT(init)
