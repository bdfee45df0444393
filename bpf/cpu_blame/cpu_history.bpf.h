/* SPDX-License-Identifier: Apache-2.0 */
/* The cgroups that ran on a CPU. The last turns are exact segments. Older ones are times of up to eight cgroups in each
 * epoch, and still older ones in each long epoch. */
#pragma once

#include "cpu_blame.h"

static __always_inline void begin_epoch(struct blame_epoch* epoch, __u64 begin_ns) {
  epoch->begin_ns = begin_ns;
  for (int i = 0; i < BLAME_EPOCH_SLOTS; ++i) epoch->ns[i] = 0;
}

/* Adds a time to an epoch. If all places are taken, the cgroup replaces the one with the least time if that is less
 * than the new time. Time that loses its place, or gets none, will be unknown. So the cgroups with the most time stay
 * known, and none is charged with the time of another. */
static __always_inline void add_to_epoch(struct blame_epoch* epoch, __u64 slot, __u64 ns) {
  if (!ns) return;
  int least = 0;
  __u64 least_ns = epoch->ns[0];
  for (int i = 0; i < BLAME_EPOCH_SLOTS; ++i) {
    if (!epoch->ns[i] || epoch->slots[i] == slot) {
      epoch->slots[i] = slot;
      epoch->ns[i] += ns;
      return;
    }
    if (epoch->ns[i] < least_ns) {
      least = i;
      least_ns = epoch->ns[i];
    }
  }
  if (ns <= least_ns) return;
  epoch->slots[least & (BLAME_EPOCH_SLOTS - 1)] = slot;
  epoch->ns[least & (BLAME_EPOCH_SLOTS - 1)] = ns;
}

/* Adds the oldest epoch to a long epoch. */
static __noinline int age_epoch(struct blame_cpu* cpu) {
  const struct blame_epoch* oldest = &cpu->epochs[cpu->n_epochs % BLAME_EPOCHS];
  struct blame_epoch* epoch = &cpu->long_epochs[(cpu->n_long_epochs - 1) % BLAME_LONG_EPOCHS];
  if (!cpu->n_long_epochs || oldest->begin_ns - epoch->begin_ns >= BLAME_LONG_EPOCH_NS) {
    epoch = &cpu->long_epochs[cpu->n_long_epochs % BLAME_LONG_EPOCHS];
    cpu->n_long_epochs++;
    begin_epoch(epoch, oldest->begin_ns);
  }
  for (int i = 0; i < BLAME_EPOCH_SLOTS; ++i) add_to_epoch(epoch, oldest->slots[i], oldest->ns[i]);
  return 0;
}

/* Adds the oldest segment to an epoch. */
static __noinline int age_segment(struct blame_cpu* cpu) {
  const struct blame_segment* oldest = &cpu->segments[cpu->n_segments % BLAME_SEGMENTS];
  __u64 end_ns = cpu->segments[(cpu->n_segments + 1) % BLAME_SEGMENTS].begin_ns;
  struct blame_epoch* epoch = &cpu->epochs[(cpu->n_epochs - 1) % BLAME_EPOCHS];
  if (!cpu->n_epochs || oldest->begin_ns - epoch->begin_ns >= BLAME_EPOCH_NS) {
    if (cpu->n_epochs >= BLAME_EPOCHS) age_epoch(cpu);
    epoch = &cpu->epochs[cpu->n_epochs % BLAME_EPOCHS];
    cpu->n_epochs++;
    begin_epoch(epoch, oldest->begin_ns);
  }
  add_to_epoch(epoch, oldest->slot, end_ns - oldest->begin_ns);
  return 0;
}

/* Stores the current segment, which has ended. */
static __always_inline void keep_segment(struct blame_cpu* cpu) {
  if (cpu->n_segments >= BLAME_SEGMENTS) age_segment(cpu);
  cpu->segments[cpu->n_segments % BLAME_SEGMENTS] = cpu->current;
  cpu->n_segments++;
}
