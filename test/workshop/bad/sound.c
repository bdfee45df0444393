/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks no rule: the base of the others here. */
#include "sound.h"

SOUND_PLUGIN
