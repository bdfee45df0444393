// SPDX-License-Identifier: Apache-2.0
// Model: for one subject, a histogram of CPU and a histogram of memory. A plain value.
#pragma once

#include <cstdint>

#include "core/analysis/histogram.hpp"
#include "core/base/clock.hpp"
#include "core/predict/amounts.hpp"
#include "core/predict/forecast.hpp"

namespace koord::predict {

inline constexpr analysis::Buckets kCpuBuckets{0.025, 1024};                        // cores
inline constexpr analysis::Buckets kMemoryBuckets{5.0 * (1 << 20), 2199023255552};  // bytes, up to 2^41

struct HalfLives {
  Duration cpu{};
  Duration memory{};
};

struct Model {
  explicit Model(const HalfLives& half_lives)
      : cpu(kCpuBuckets, half_lives.cpu), memory(kMemoryBuckets, half_lives.memory) {}

  void add(const Usage& usage, Time now) {
    if (samples++ == 0) first = now;
    last = now;
    actual = usage;
    cpu.add(usage.cpu_cores, now);
    memory.add(usage.memory_bytes, now);
  }
  // Moves all times back by this duration.
  void move_back(Duration by) {
    first -= by;
    last -= by;
    cpu.move_back(by);
    memory.move_back(by);
  }
  // Returns percentiles without the fractions of milli-cores and bytes.
  Percentiles percentiles() const;

  analysis::Histogram cpu, memory;
  Time first, last;  // times of its first and last sample
  std::uint64_t samples = 0;
  Usage actual;  // the last sample
  Time expires;  // when the model is dropped, unless a further sample comes
};

}  // namespace koord::predict
