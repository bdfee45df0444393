/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with a run path: a folder of the build machine. */
#include "sound.h"

SOUND_PLUGIN
