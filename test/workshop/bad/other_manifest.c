/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest of the file differs from the manifest of the loaded module. */
#include "sound.h"

PLUGIN_TABLES(sound_create, sound_init, NULL, NULL, sound_destroy, sound_collect)
PLUGIN_MANIFEST(SOUND_MANIFEST)
PLUGIN_MODULE(module, SOUND_MANIFEST "license=other\n")
PLUGIN_ENTRY
