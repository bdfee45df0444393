// SPDX-License-Identifier: Apache-2.0
// A static variable of an inline function, which gcc makes one for the whole process.
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
