/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the process while it is loaded. */
#include "sound.h"

__attribute__((constructor)) static void run_at_load(void) { abort(); }

SOUND_PLUGIN
