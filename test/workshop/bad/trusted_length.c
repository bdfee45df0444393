/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the length of the whole text as the number of bytes that are in its buffer. */
#include "sound.h"

static koord_status init(void *instance) {
  sound *self = instance;
  koord_status status = sound_init(instance);
  char json[64];
  uint64_t length = 0;
  if (status != KOORD_OK || !KOORD_HAS(self->config, json)) return status;
  self->config->json(self->host, json, sizeof json - 1, &length);
  *(volatile char *)&json[length] = '\0';
  return KOORD_OK;
}

PLUGIN_OF_INIT(init)
