// SPDX-License-Identifier: Apache-2.0
// HistogramAssembly: brings the lines of each histogram together, in whatever order they come. Private to the document.
// [one thread]
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/exposition/document.hpp"

namespace koord::exposition {

class HistogramAssembly {
 public:
  // One series of a histogram.
  struct Group {
    std::uint32_t metric = 0;
    std::vector<Label> labels;                       // without "le"
    std::string_view key;                            // the same in each scrape
    std::vector<std::pair<double, double>> buckets;  // upper bound, cumulative count
    std::optional<double> count;
    double sum = 0;
  };

  // The group of this metric with these labels but "le"; `keep` makes a text that stays.
  template <class Keep>
  Group& group(std::uint32_t metric, std::string_view name, std::span<const Label> labels, Keep&& keep) {
    if (last_ < groups_.size() && is(groups_[last_], metric, labels)) return groups_[last_];
    make_key(name, labels);
    if (auto known = by_key_.find(key_); known != by_key_.end()) return groups_[last_ = known->second];
    last_ = groups_.size();
    Group& made = groups_.emplace_back();
    made.metric = metric;
    for (const Label& label : labels) {
      if (label.name != "le") made.labels.push_back({keep(label.name), keep(label.value)});
    }
    made.key = keep(key_);
    by_key_.emplace(made.key, last_);
    return made;
  }

  std::vector<Group>& groups() { return groups_; }

 private:
  static bool is(const Group& group, std::uint32_t metric, std::span<const Label> labels);
  void make_key(std::string_view name, std::span<const Label> labels);

  std::vector<Group> groups_;
  std::unordered_map<std::string_view, std::size_t> by_key_;
  std::size_t last_ = 0;
  std::string key_;
};

// Returns the registry's form, or why the group is not valid.
Result<Histogram> assembled(HistogramAssembly::Group& group);

}  // namespace koord::exposition
