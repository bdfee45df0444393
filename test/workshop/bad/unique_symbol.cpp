// SPDX-License-Identifier: Apache-2.0
// Has a static variable in an inline function. With gcc it is a unique symbol, shared by the whole process.
#include "sound.h"

struct KOORD_EXPORT Shared {
  static int &counter() {
    static int value = 0;
    return value;
  }
};

static koord_status init(void *instance) {
  ++Shared::counter();
  return sound_init(instance);
}

extern "C" {
PLUGIN_OF_INIT(init)
}
