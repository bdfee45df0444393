/* SPDX-License-Identifier: Apache-2.0 */
/* Ignores SIGPIPE in the whole process. */
#include <signal.h>

#include "sound.h"

static koord_status init(void *instance) {
  signal(SIGPIPE, SIG_IGN);
  return sound_init(instance);
}

PLUGIN_OF_INIT(init)
