// SPDX-License-Identifier: Apache-2.0
#include "core/store/journal.hpp"

namespace koord::store {
namespace {

// The limit of the buffer while the disk is stalled. Further entries are not journalled until the writer has taken the
// buffer.
constexpr std::size_t kMaxJournalBytes = 32u << 20;
constexpr std::uint64_t kWhole = 1;  // the value itself, not a difference

}  // namespace

void JournalBuffer::add(std::int64_t time_ms, std::span<const Entry> entries) {
  if (!enabled_ || entries.empty()) return;
  if (bytes_.size() > kMaxJournalBytes) return break_off();
  newest_ms_ = std::max(newest_ms_, time_ms);
  append_varint(bytes_, static_cast<std::uint64_t>(time_ms));
  append_varint(bytes_, entries.size());
  std::size_t used = bytes_.size();
  bytes_.resize(used + entries.size() * 2 * kMaxVarint);
  char* out = bytes_.data() + used;
  SeriesId previous = 0;
  for (const Entry& entry : entries) {
    Column& column = *entry.column;
    bool whole = column.journal_epoch != epoch_;
    std::uint64_t base = whole ? 0 : static_cast<std::uint64_t>(column.journal_value);
    out = put_varint(out, zigzag(std::uint64_t{column.id} - previous));
    // Values are below 2^61 in magnitude, so the shift loses no bits.
    out = put_varint(out, zigzag(static_cast<std::uint64_t>(entry.value) - base) << 1 | (whole ? kWhole : 0));
    column.journal_value = entry.value;
    column.journal_epoch = epoch_;
    previous = column.id;
  }
  bytes_.resize(static_cast<std::size_t>(out - bytes_.data()));
}

std::pair<std::string, std::int64_t> JournalBuffer::take() {
  std::size_t size = bytes_.size();
  std::pair<std::string, std::int64_t> taken(std::exchange(bytes_, {}), std::exchange(newest_ms_, 0));
  bytes_.reserve(size + size / 4);
  return taken;
}

void JournalBuffer::break_off() { ++epoch_; }

std::optional<std::int64_t> JournalReader::next_value(std::optional<std::int64_t>& last, std::uint64_t code) {
  std::uint64_t difference = unzigzag(code >> 1);
  if (code & kWhole) return last = static_cast<std::int64_t>(difference);
  if (!last) return std::nullopt;
  return last = static_cast<std::int64_t>(static_cast<std::uint64_t>(*last) + difference);
}

}  // namespace koord::store
