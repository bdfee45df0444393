/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with -z lazy. */
#include "sound.h"

SOUND_PLUGIN
