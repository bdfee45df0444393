/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a table for what its own plugin.h says it is. */
#include "sound.h"

static koord_status init(void *instance) {
  sound *self = instance;
  self->metrics = self->host->get_service(self->host, "koord.metrics/1");
  self->state = self->host->get_service(self->host, "koord.state/1");
  return self->metrics && self->state ? sound_define(self) : KOORD_E_UNSUPPORTED;
}

PLUGIN_OF_INIT(init)
