/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest names no feature gate, so the plugin would never start. */
#include "sound.h"

PLUGIN_TABLES(sound_create, sound_init, NULL, NULL, sound_destroy, sound_collect)
PLUGIN_MANIFEST(SOUND_ID "requires=koord.metrics/1\n")
PLUGIN_MODULE(module, manifest)
PLUGIN_ENTRY
