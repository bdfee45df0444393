/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with a folder of the machine where it was built. */
#include "sound.h"

SOUND_PLUGIN
