/* SPDX-License-Identifier: Apache-2.0 */
/* Fails in each collect(), though init() succeeded. */
#include "sound.h"

static koord_status collect(void *instance, uint64_t now_ns, uint64_t deadline_ns) {
  (void)instance, (void)now_ns, (void)deadline_ns;
  return KOORD_E_IO;
}

PLUGIN_OF_COLLECT(collect)
