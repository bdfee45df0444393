// SPDX-License-Identifier: Apache-2.0
// Identities: the series of the catalogue by number. Numbers are given in ascending order and never again, so living
// series stand close together: they lie in pages of 64, and a page without a series is freed. A damaged file with a
// huge number costs one page. Part of State and guarded by its mutex.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/store/chunk.hpp"

namespace koord::store {

using MetricId = std::uint32_t;
struct Column;
struct LabelSet;

class Identity {
 public:
  Identity() = default;
  Identity(MetricId of_metric, LabelSet& set, std::optional<std::int64_t> ended) : metric(of_metric), label_set(&set) {
    set_ended_ms(ended);
  }

  MetricId metric = 0;  // 0: no series has this number
  LabelSet* label_set = nullptr;
  Column* column = nullptr;  // its values in memory, if there are

  const std::string& labels() const;  // packed

  // Nothing while the series exists.
  std::optional<std::int64_t> ended_ms() const {
    return ended_ms_ == kLiving ? std::nullopt : std::optional(ended_ms_);
  }
  void set_ended_ms(std::optional<std::int64_t> ms) { ended_ms_ = ms.value_or(kLiving); }

 private:
  static constexpr std::int64_t kLiving = std::numeric_limits<std::int64_t>::min();
  std::int64_t ended_ms_ = kLiving;
};

class Identities {
 public:
  Identity* find(SeriesId id);
  const Identity* find(SeriesId id) const { return const_cast<Identities*>(this)->find(id); }
  bool contains(SeriesId id) const { return find(id) != nullptr; }
  std::size_t size() const { return size_; }

  // The number must be free, the identity's metric not 0.
  void add(SeriesId id, const Identity& identity);
  void erase(SeriesId id);

  // visit(id, identity) for each, in no order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [number, page] : pages_)
      for (SeriesId place = 0; place < kPageSeries; ++place)
        if (page->identities[place].metric != 0) visit(number * kPageSeries + place, page->identities[place]);
  }

 private:
  static constexpr SeriesId kPageSeries = 64;
  struct Page {
    std::array<Identity, kPageSeries> identities;
    std::size_t used = 0;
  };

  std::unordered_map<SeriesId, std::unique_ptr<Page>> pages_;  // by id / kPageSeries
  std::size_t size_ = 0;
};

}  // namespace koord::store
