/* SPDX-License-Identifier: Apache-2.0 */
/* Needs a function that only C libraries since 2.32 have. */
#define _GNU_SOURCE
#include "sound.h"

static koord_status init(void *instance) { return sigabbrev_np(1) ? sound_init(instance) : KOORD_E_UNSUPPORTED; }

PLUGIN_OF_INIT(init)
