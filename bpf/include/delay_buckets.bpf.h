/* SPDX-License-Identifier: Apache-2.0 */
/* The bucket of a delay (latency_slots.h). */
#pragma once

#include "latency_slots.h"

/* Returns floor(log2) + 1, or 0 for 0. It works in steps, because the instruction set cannot count leading zeros. */
static __always_inline __u32 bucket_of(__u64 delay_ns) {
  __u64 us = delay_ns / 1000;
  if (us >= 1ull << (LATENCY_BUCKETS - 2)) return LATENCY_BUCKETS - 1;
  __u32 bits = 0;
  if (us >> 16) us >>= 16, bits += 16;
  if (us >> 8) us >>= 8, bits += 8;
  if (us >> 4) us >>= 4, bits += 4;
  if (us >> 2) us >>= 2, bits += 2;
  if (us >> 1) us >>= 1, bits += 1;
  return bits + us;
}
