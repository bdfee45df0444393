/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for a service in create(); services are available from init() on. */
#include "sound.h"

static koord_status create(const koord_host *host, const koord_class *cls, void **out) {
  host->get_service(host, "koord.metrics/1");
  return sound_create(host, cls, out);
}

PLUGIN(create, sound_init, NULL, NULL, sound_destroy, sound_collect)
