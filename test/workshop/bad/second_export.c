/* SPDX-License-Identifier: Apache-2.0 */
/* Linked without the version script, and with a second function that everybody sees. */
#include "sound.h"

KOORD_EXPORT int another_export(void);
int another_export(void) { return 1; }

SOUND_PLUGIN
