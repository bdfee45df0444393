/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with -z execstack. */
#include "sound.h"

SOUND_PLUGIN
