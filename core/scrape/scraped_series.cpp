// SPDX-License-Identifier: Apache-2.0
// The series of ScrapedMetrics in the registry: their start and end with a scrape, their labels, and their points.
#include <algorithm>
#include <utility>

#include "core/metric/labels.hpp"
#include "core/scrape/scraped_metrics.hpp"

namespace koord::scrape {
namespace {

using exposition::Document;

// Returns the name of a label on this node. Names that the host sets itself get the prefix that Prometheus uses for
// labels with a taken name.
std::string own_name(std::string_view name) {
  bool taken = name == metric::kNodeLabel || name == "le" || name.starts_with("__") ||
               std::find(std::begin(metric::kSubjectLabels), std::end(metric::kSubjectLabels), name) !=
                   std::end(metric::kSubjectLabels);
  return taken ? "exported_" + std::string(name) : std::string(name);
}

}  // namespace

Result<void> ScrapedMetrics::check_budget() {
  const std::size_t others = registry_.live_series(owner_) - std::min(live_, registry_.live_series(owner_));
  const std::size_t budget = registry_.budget(owner_);
  std::string why;
  if (picked_.size() + others > budget)
    why = "found " + std::to_string(picked_.size() + others) + " series, expected at most " + std::to_string(budget) +
          " (maxSeries)";
  else if (picked_.size() > max_series_)
    why = "found " + std::to_string(picked_.size()) + " series, expected at most " + std::to_string(max_series_);
  return why.empty() ? Result<void>() : invalid(why);
}

void ScrapedMetrics::end_vanished() {
  for (auto& [name, known] : metrics_) {
    for (auto entry = known.series.begin(); entry != known.series.end();) {
      Live& live = entry->second;
      if (live.recorded != scrape_ && live.id != 0) {
        registry_.end_series(live.id);
        let_go(live);
      }
      // Series of this scrape are kept, because the plugin's answer about them is known.
      entry = live.met == scrape_ ? std::next(entry) : known.series.erase(entry);
    }
  }
}

void ScrapedMetrics::let_go(Live& live) {
  definitions_.release(std::exchange(live.id, 0));
  --live_;
}

metric::Labels ScrapedMetrics::labels_of(const Document& document, const Picked& picked) const {
  const auto& changes = picked.live->change.labels;
  auto is_of = [](std::string_view name) { return [name](const auto& change) { return change.first == name; }; };
  metric::Labels labels;
  for (const exposition::Label& label : document.labels(*picked.sample)) {
    if (std::none_of(changes.begin(), changes.end(), is_of(label.name)))
      labels.emplace_back(own_name(label.name), label.value);
  }
  for (auto change = changes.begin(); change != changes.end(); ++change) {
    const bool is_last = std::none_of(std::next(change), changes.end(), is_of(change->first));
    if (is_last && !change->second.empty()) labels.emplace_back(own_name(change->first), change->second);
  }
  return labels;
}

void ScrapedMetrics::begin_series(const Document& document) {
  for (Picked& picked : picked_) {
    Live& live = *picked.live;
    if (live.id != 0) continue;
    metric::Subject subject;
    if (live.change.subject != KOORD_NO_SUBJECT) {
      std::optional<metric::Subject> living = mapping_.subject ? mapping_.subject(live.change.subject) : std::nullopt;
      if (!living) {
        live.is_mapped = false;  // the subject has ended since, so the plugin is asked again
        leave_out("series '" + std::string(picked.sample->series) + "': no pod or container has the handle " +
                  std::to_string(live.change.subject));
        continue;
      }
      subject = *std::move(living);
      subjects_.insert(live.change.subject);
    }
    Result<metric::SeriesId> id =
        registry_.series(owner_, picked.metric->definition->id, subject, labels_of(document, picked));
    const std::string of = "series '" + std::string(picked.sample->series) + "': ";
    if (!id) {
      leave_out(of + id.error().message());
    } else if (!definitions_.claim(*id)) {
      leave_out(of + "found it twice under its labels here, expected it once");
    } else {
      live.id = *id;
      ++live_;
    }
  }
}

Result<void> ScrapedMetrics::record(const Document& document, Time time) {
  points_.clear();
  histograms_.clear();
  for (const Picked& picked : picked_) {
    if (picked.live->id == 0) continue;
    ++outcome_.taken;
    if (!picked.sample->is_histogram()) {
      points_.push_back({picked.live->id, picked.value});
      continue;
    }
    const exposition::Histogram& histogram = document.histogram(*picked.sample);
    histograms_.push_back({picked.live->id, histogram.cumulative.data(), histogram.cumulative.size(), histogram.sum});
  }
  std::size_t stale = 0;
  if (!points_.empty()) stale += TRY(registry_.record(owner_, time, points_)).stale;
  if (!histograms_.empty()) stale += TRY(registry_.record_histograms(owner_, time, histograms_)).stale;
  if (stale == 0) return {};
  // Either a subject has just ended, or other code has ended one of these series. In the latter case all series are
  // defined again.
  const std::size_t before = subjects_.size();
  forget_ended_subjects();
  if (subjects_.size() == before) forget();
  return {};
}

}  // namespace koord::scrape
