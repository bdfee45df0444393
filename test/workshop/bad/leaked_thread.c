/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a thread in each session and never joins it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#include "sound.h"

static void *wait_for_ever(void *nothing) {
  while (pause()) continue;
  return nothing;
}

static koord_status init(void *instance) {
  pthread_t thread;
  return pthread_create(&thread, NULL, wait_for_ever, NULL) ? KOORD_E_NOMEM : sound_init(instance);
}

PLUGIN_OF_INIT(init)
