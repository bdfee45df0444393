/* SPDX-License-Identifier: Apache-2.0 */
/* Linked without the version script, so it exports a second function. */
#include "sound.h"

KOORD_EXPORT int another_export(void);
int another_export(void) { return 1; }

SOUND_PLUGIN
