/* SPDX-License-Identifier: Apache-2.0 */
/* Aborts the process while the plugin is loaded. */
#include "sound.h"

__attribute__((constructor)) static void run_at_load(void) { abort(); }

SOUND_PLUGIN
