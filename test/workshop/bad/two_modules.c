/* SPDX-License-Identifier: Apache-2.0 */
/* The entry function returns two different modules in turn. */
#include "sound.h"

PLUGIN_TABLES(sound_create, sound_init, NULL, NULL, sound_destroy, sound_collect)
PLUGIN_MANIFEST(SOUND_MANIFEST)
PLUGIN_MODULE(one, manifest)
PLUGIN_MODULE(other, manifest)

const koord_module *koord_entry_v1(void) {
  static int calls;
  return calls++ % 2 ? &other : &one;
}
