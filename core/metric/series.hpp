// SPDX-License-Identifier: Apache-2.0
// The records behind the registry, for core/metric alone. They refer to one another by plain pointers: owners
// and metrics outlive their series, a subject goes with its last series. All of it is guarded by the
// registry's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/metric/desc.hpp"
#include "core/metric/exported.hpp"
#include "core/metric/labels.hpp"
#include "core/metric/own_labels.hpp"
#include "core/metric/point.hpp"

namespace koord::metric {

struct Owner {
  std::string name;
  std::size_t budget;
  Duration stale_after;
  std::size_t live_series = 0;  // without the "other" ones
  std::uint64_t dropped_series = 0;
  std::size_t metrics = 0;  // defined, and their bytes
  std::size_t definition_bytes = 0;
  std::size_t label_bytes = 0;        // of the own labels of live_series
  std::size_t stale_series = 0;       // of live_series: in a handover, not requested again yet
  std::size_t stale_label_bytes = 0;  // theirs
  bool lacks_label_room = false;      // the last new series went to "other" because of label_bytes
  bool in_handover = false;
  bool lost_metric = false;  // in this handover
};

struct Metric {
  Metric(std::uint32_t id, Desc desc, Owner& owner);

  std::uint32_t id;
  Desc desc;
  Owner& owner;
  std::string family;                      // the name as exported
  double max_value;                        // largest value that `resolution` steps can hold
  std::vector<std::uint32_t> series;       // live ones, in no order
  std::optional<std::uint32_t> other;      // the series for what is beyond the budget
  bool is_stale = false;                   // in a handover: not defined again yet
  bool keeps_name = false;                 // against an owner that takes names
  std::vector<std::string> bucket_labels;  // of a histogram: `le="0.5"` for each bound, then +Inf
  std::unique_ptr<Metric> count, sum;      // of a histogram: as the observer sees it
};

struct SubjectRecord {
  std::uint64_t handle;
  Labels labels;
  std::string text;  // rendered, the node's label in front
  std::vector<std::uint32_t> series;
  SubjectKind kind = SubjectKind::node;
};

struct HistogramState {
  std::vector<std::uint64_t> cumulative;
  double sum = 0;
  std::uint32_t count_index, sum_index;  // the indexes of the two counters for the observer
};

// A cache line, since recording is bound by what it touches.
struct Series {
  enum class State : std::uint8_t { free, live, part };  // part: one of a histogram's two counters

  std::uint32_t generation = 0;
  State state = State::free;
  bool is_other = false;
  bool has_value = false;
  bool is_stale = false;  // in a handover: not requested again yet
  Metric* metric = nullptr;
  double value = 0;
  Time time{};

  SubjectRecord* subject = nullptr;
  const OwnLabels* own = nullptr;  // null for most
  std::unique_ptr<HistogramState> histogram;
  std::uint32_t place_in_metric = 0;
  std::uint32_t place_in_subject = 0;

  const Labels& own_labels() const;
  std::string_view own_text() const { return own ? own->text : std::string_view(); }
};
static_assert(sizeof(Series) == 64);

}  // namespace koord::metric
