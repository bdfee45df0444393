// SPDX-License-Identifier: Apache-2.0
// A checkpoint of models, as on the disk. Each line is read unchanged, and also as the rest of a record with a valid
// checksum, because the fuzzer would not find a valid checksum itself. An accepted record must be readable after
// writing, and usable for further learning.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/predict/checkpoint.hpp"
#include "core/predict/trainer.hpp"

using namespace koord;
using namespace koord::predict;
using namespace std::chrono_literals;

namespace {

constexpr HalfLives kHalfLives{12h, 24h};

void learn_on(Checkpoint checkpoint) {
  const Time now = Time(24h * 20'000);
  Trainer trainer({kHalfLives, 30min, 10, 100});
  trainer.restore(std::move(checkpoint), now);
  Observation observation;
  observation.node = {1, 1e9};
  trainer.train(observation, now + 1min);
  for (const auto& [subject, known] : trainer.forecast(now + 1min).subjects)
    if (known.percentiles.p60.cpu_milli < 0 || known.percentiles.max.memory_bytes < 0) std::abort();
}

void check(const ReadCheckpoint& read) {
  const ReadCheckpoint again = read_checkpoint(write_checkpoint(read.checkpoint), kHalfLives);
  if (!again.problems.empty() || again.checkpoint.models.size() != read.checkpoint.models.size()) std::abort();
  learn_on(read.checkpoint);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(read_checkpoint(text, kHalfLives));
  const std::string_view line = text.substr(0, text.find('\n'));
  check(read_checkpoint(sealed_record(line), kHalfLives));
  return 0;
}
