/* SPDX-License-Identifier: Apache-2.0 */
/* Is decided upon by one text and runs by another. */
#include "sound.h"

PLUGIN_TABLES(sound_create, sound_init, NULL, NULL, sound_destroy, sound_collect)
PLUGIN_MANIFEST(SOUND_MANIFEST)
PLUGIN_MODULE(module, SOUND_MANIFEST "license=other\n")
PLUGIN_ENTRY
