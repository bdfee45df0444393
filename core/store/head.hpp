// SPDX-License-Identifier: Apache-2.0
// The head: everything about living series that is in memory. Appends end here; the writer takes from here what is to
// go to the disk. Part of State and guarded by its mutex.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/store/catalogue.hpp"
#include "core/store/journal.hpp"
#include "core/store/lane.hpp"
#include "core/store/options.hpp"
#include "core/store/types.hpp"

namespace koord::store {

inline std::int64_t to_ms(Time t) { return t.time_since_epoch().count() / 1'000'000; }
inline Time from_ms(std::int64_t ms) { return Time(Duration(ms * 1'000'000)); }

class Head {
 public:
  explicit Head(const Options& options);

  // `newest_ms`: the newest sample on disk from the metric's earlier session.
  using NewestOnDisk = std::function<std::optional<std::int64_t>(MetricId)>;
  Result<void> begin_series(std::uint32_t index, const SeriesSpec& spec, const NewestOnDisk& newest_ms);
  void end_series(std::uint32_t index);
  Result<std::uint64_t> append(Time time, std::span<const Sample> samples);

  Catalogue& catalogue() { return *catalogue_; }
  const Catalogue& catalogue() const { return *catalogue_; }
  JournalBuffer& journal() { return journal_; }
  // nullptr for an index that is not begun.
  const Column* live(std::uint32_t index) const { return index < live_.size() ? live_[index] : nullptr; }
  std::size_t live_series() const { return live_count_; }

  struct DueGroup {
    Lane* lane;
    Group* group;
  };
  // Lanes and groups stay in place as long as the head.
  std::vector<DueGroup> due_groups(std::int64_t now_ms, bool all);
  void release_ended(const DueGroup& due);
  // Journal rows that are all older can go.
  std::optional<std::int64_t> oldest_unsealed_ms() const;

  // Takes a file's catalogue in place of its own and gives every series in memory its number there. `renumbered`
  // receives old number → new number for all series of the old catalogue.
  void adopt(std::unique_ptr<Catalogue> catalogue, std::unordered_map<SeriesId, SeriesId>& renumbered,
             std::unordered_map<MetricId, MetricId>& renumbered_metrics);

 private:
  Lane& lane_of(MetricId metric, double resolution, const NewestOnDisk& newest_ms);
  Result<void> check_samples(std::int64_t time_ms, std::span<const Sample> samples);
  Error out_of_range(const Column& column, double value) const;

  std::uint32_t ring_rows_;
  std::unique_ptr<Catalogue> catalogue_;
  std::map<MetricId, std::unique_ptr<Lane>> lanes_;
  std::vector<Column*> live_;  // by index
  std::size_t live_count_ = 0;
  JournalBuffer journal_;
  std::vector<JournalBuffer::Entry> batch_;  // scratch of append
};

}  // namespace koord::store
