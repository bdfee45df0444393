// SPDX-License-Identifier: Apache-2.0
// The writer's housekeeping: retention by age and size, and removal of series without samples.
#include <algorithm>

#include "core/store/writer.hpp"

namespace koord::store {
namespace {

using namespace std::chrono_literals;

constexpr auto kBoundsPeriod = 5s;
constexpr auto kCompactPeriod = 1h;
// The number of chunks that one transaction deletes: a few MiB, some milliseconds.
constexpr std::size_t kCutAtOnce = 512;
constexpr std::uint64_t kLogBytes = 4u << 20;  // the size limit of the write-ahead log, see set_modes
constexpr std::uint64_t kWorthCompacting = 8u << 20;

std::uint64_t file_budget(std::uint64_t max_bytes) { return max_bytes - std::min(kLogBytes, max_bytes / 4); }

}  // namespace

void Writer::keep_bounds() {
  next_bounds_ = Steady::now() + kBoundsPeriod;
  if (disk_) {
    if (Result<void> done = cut_back(); !done) lose_disk(done.error());
  }
  std::int64_t now_ms = to_ms(clock_.now());
  std::vector<SeriesId> gone;
  {
    std::lock_guard lock(state_.mutex);
    state_.values.erase_expired(now_ms);
    std::int64_t oldest =
        std::min(state_.chunks.oldest_ms().value_or(now_ms), state_.pending.oldest_ms().value_or(now_ms));
    gone = state_.head.catalogue().ended_before(oldest);
    for (SeriesId id : gone) state_.head.catalogue().forget(id);
  }
  if (!disk_) return;
  if (Result<void> done = disk_->forget(gone); !done) lose_disk(done.error());
}

Result<void> Writer::cut_back() {
  std::int64_t now_ms = to_ms(clock_.now());
  std::int64_t too_old_ms = now_ms - options_.retention / 1ms;
  std::int64_t may_go_ms = now_ms - options_.min_span / 1ms;
  bool more = true;
  while (more) TRY(cut(too_old_ms, kCutAtOnce, more));
  Disk::Size size = TRY(disk_->size());
  more = true;
  while (more && size.used > file_budget(options_.max_bytes)) {
    TRY(cut(may_go_ms, kCutAtOnce / 8, more));
    size = TRY(disk_->size());
  }
  if (size.file > kWorthCompacting && size.used < size.file / 2 && Steady::now() >= next_compact_) {
    next_compact_ = Steady::now() + kCompactPeriod;
    TRY(disk_->compact());
    size = TRY(disk_->size());
  }
  std::lock_guard lock(state_.mutex);
  state_.stats.bytes_on_disk = size.file;
  state_.stats.over_budget = size.used > file_budget(options_.max_bytes);
  return {};
}

Result<void> Writer::cut(std::int64_t before_ms, std::size_t limit, bool& more) {
  std::int64_t last = TRY(disk_->cut(before_ms, limit));
  more = last != 0;
  if (!more) return {};
  std::lock_guard lock(state_.mutex);
  state_.chunks.cut(last);
  return {};
}

}  // namespace koord::store
