/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks no rule: what the others here are made of. */
#include "sound.h"

SOUND_PLUGIN
