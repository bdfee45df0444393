// SPDX-License-Identifier: Apache-2.0
// Document: the whole answer of a scrape as metrics with their samples: types, helps and units belong to metrics, lines
// of one histogram are one sample. A summary becomes three metrics, its quantiles as a gauge, _sum and _count as
// counters; what has no type, and the kinds that only OpenMetrics has, become gauges. Timestamps, exemplars and
// _created are left out. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_budget.hpp"
#include "core/base/result.hpp"
#include "core/exposition/parser.hpp"

namespace koord::exposition {

enum class Kind : std::uint8_t { gauge, counter, histogram };

struct Metric {
  std::string_view name;  // as its samples have it; a histogram's is without _bucket
  Kind kind = Kind::gauge;
  std::string_view help, unit;
};

struct Histogram {
  std::vector<double> bounds;             // rising, without +Inf; there may be none
  std::vector<std::uint64_t> cumulative;  // one more than bounds
  double sum = 0;
};

struct Sample {
  static constexpr std::uint32_t kNoHistogram = UINT32_MAX;

  std::uint32_t metric = 0;
  std::uint32_t first_label = 0, n_labels = 0;
  std::uint32_t histogram = kNoHistogram;
  double value = 0;         // of a histogram: the count of all
  std::string_view series;  // the same text in each scrape; no two samples of a metric need differ in it

  bool is_histogram() const { return histogram != kNoHistogram; }
};

struct DocumentLimits {
  Limits line = {};
  std::size_t samples = 100'000;  // lines that are one
};

class Document {
 public:
  // All or nothing: an error is about the first line that is wrong. `memory` has the bytes of `text`; those of the
  // document are added. The document returns them at its end.
  static Result<Document> read(std::string text, Syntax syntax, const DocumentLimits& limits = {},
                               ByteShare memory = {});

  const std::vector<Metric>& metrics() const { return metrics_; }
  const std::vector<Sample>& samples() const { return samples_; }
  std::span<const Label> labels(const Sample& sample) const {
    return std::span(labels_).subspan(sample.first_label, sample.n_labels);
  }
  std::size_t label_count() const { return labels_.size(); }  // of all samples
  const Histogram& histogram(const Sample& sample) const { return histograms_[sample.histogram]; }

  // Histograms that make no sense, and why the first one does not.
  std::size_t left_out() const { return left_out_; }
  const std::string& left_out_because() const { return left_out_because_; }
  std::size_t bytes() const { return text_->size(); }

 private:
  friend class DocumentReader;
  Document() = default;

  ByteShare memory_;
  std::unique_ptr<const std::string> text_;  // the text of the views below, if not in
  std::deque<std::string> texts_;            // these
  std::vector<Metric> metrics_;
  std::vector<Sample> samples_;
  std::vector<Label> labels_;
  std::vector<Histogram> histograms_;
  std::size_t left_out_ = 0;
  std::string left_out_because_;
};

}  // namespace koord::exposition
