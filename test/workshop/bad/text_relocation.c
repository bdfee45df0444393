/* SPDX-License-Identifier: Apache-2.0 */
/* Has an absolute address in its code, which needs a text relocation. */
#include "sound.h"

SOUND_PLUGIN

__asm__(".text\n.p2align 3\n.quad manifest_address_in_code\n.data\nmanifest_address_in_code: .quad 0\n.text\n");
