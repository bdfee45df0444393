// SPDX-License-Identifier: Apache-2.0
// Throws an exception to the host, which may be written in C and could not catch it.
#include <stdexcept>

#include "sound.h"

static koord_status init(void *instance) {
  auto *self = static_cast<sound *>(instance);
  if (const koord_status status = sound_get_services(self); status != KOORD_OK) return status;
  if (sound_define(self) != KOORD_OK) throw std::runtime_error("no metric");
  return KOORD_OK;
}

extern "C" {
PLUGIN_OF_INIT(init)
}
