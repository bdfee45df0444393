/* SPDX-License-Identifier: Apache-2.0 */
/* Frees its object, but not the memory that init() allocated. */
#include "sound.h"

static koord_status init(void *instance) {
  void *volatile kept = malloc(100);
  return kept ? sound_init(instance) : KOORD_E_NOMEM;
}

PLUGIN_OF_INIT(init)
