/* SPDX-License-Identifier: Apache-2.0 */
/* Looks like a Rust plugin with panic=abort, because it says that rustc compiled it, and does not import
 * _Unwind_RaiseException. */
#include "sound.h"

__asm__(".ident \"rustc version 1.63.0\"");

SOUND_PLUGIN
