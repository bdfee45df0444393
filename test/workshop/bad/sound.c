/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks no rule. The other plugins here are based on it. */
#include "sound.h"

SOUND_PLUGIN
