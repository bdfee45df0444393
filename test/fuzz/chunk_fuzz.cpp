// SPDX-License-Identifier: Apache-2.0
// A damaged or hostile file of the store: decodes chunks, journal rows and packed labels from any bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/store/chunk.hpp"
#include "core/store/journal.hpp"
#include "core/store/packed_labels.hpp"

using namespace koord::store;

namespace {

void decode_chunk(std::string_view bytes) {
  std::optional<ChunkReader> chunk = ChunkReader::open(bytes);
  if (!chunk) return;
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < chunk->series().size(); ++i)
    if (chunk->read(i, values) && values.size() != chunk->times_ms().size()) std::abort();
}

void decode_journal(std::string_view bytes) {
  constexpr SeriesId kLargest = 1000;
  JournalReader reader(kLargest);
  reader.read(bytes, [](std::int64_t, SeriesId id, std::int64_t) {
    if (id > kLargest) std::abort();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  decode_chunk(bytes);
  decode_journal(bytes);
  (void)labels_as_json(bytes);
  return 0;
}
