// SPDX-License-Identifier: Apache-2.0
// The journal: the samples appended since the last seals, one row of bytes per journal period. After a kill it is the
// only record of the last minutes. A row is a sequence of batches:
//   time | count | count times: series id, as difference to the one before | value
// A value is the difference to the series' value before, or, in the first entry after a seal, the value itself: sealed
// rows can be deleted without reading them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/store/bytes.hpp"
#include "core/store/lane.hpp"

namespace koord::store {

// The content of the next journal row. Part of State and guarded by its mutex.
class JournalBuffer {
 public:
  explicit JournalBuffer(bool enabled) : enabled_(enabled) {}

  struct Entry {
    Column* column;
    std::int64_t value;
  };
  void add(std::int64_t time_ms, std::span<const Entry> entries);

  // The bytes so far and the newest time in them; empties the buffer.
  std::pair<std::string, std::int64_t> take();
  // The rows written so far are lost or of no use: every series' next entry stands for itself.
  void break_off();

 private:
  bool enabled_;
  std::string bytes_;
  std::int64_t newest_ms_ = 0;
  std::uint32_t epoch_ = 1;
};

// Reads journal rows in their order.
class JournalReader {
 public:
  explicit JournalReader(SeriesId largest_id) : last_(std::size_t{largest_id} + 1) {}

  // Calls visit(time_ms, id, value) for each readable entry; false when the row is damaged.
  template <class Visit>
  bool read(std::string_view row, Visit visit) {
    ByteReader in(row);
    while (in.left() > 0) {
      auto time_ms = static_cast<std::int64_t>(in.varint());
      std::uint64_t id = 0;
      for (std::uint64_t left = in.varint(); left > 0; --left) {
        id += unzigzag(in.varint());
        std::uint64_t code = in.varint();
        if (in.failed() || id >= last_.size()) return false;
        if (std::optional<std::int64_t> value = next_value(last_[id], code))
          visit(time_ms, static_cast<SeriesId>(id), *value);
      }
      if (in.failed()) return false;
    }
    return true;
  }

 private:
  static std::optional<std::int64_t> next_value(std::optional<std::int64_t>& last, std::uint64_t code);

  std::vector<std::optional<std::int64_t>> last_;
};

}  // namespace koord::store
