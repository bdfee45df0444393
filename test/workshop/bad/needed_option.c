/* SPDX-License-Identifier: Apache-2.0 */
/* Fails if the host lacks a service that its manifest declares as optional. */
#include "sound.h"

static koord_status init(void *instance) {
  koord_status status = sound_init(instance);
  return status == KOORD_OK && !((sound *)instance)->config ? KOORD_E_UNSUPPORTED : status;
}

PLUGIN_OF_INIT(init)
