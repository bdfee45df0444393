/* SPDX-License-Identifier: Apache-2.0 */
/* Uses members of its own plugin.h without checking that the host's table has them. */
#include "sound.h"

static koord_status init(void *instance) {
  sound *self = instance;
  self->metrics = self->host->get_service(self->host, "koord.metrics/1");
  self->state = self->host->get_service(self->host, "koord.state/1");
  return self->metrics && self->state ? sound_define(self) : KOORD_E_UNSUPPORTED;
}

PLUGIN_OF_INIT(init)
