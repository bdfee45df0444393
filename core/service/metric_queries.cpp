// SPDX-License-Identifier: Apache-2.0
#include "core/service/metric_queries.hpp"

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/service/arguments.hpp"
#include "core/service/plugin_context.hpp"
#include "core/service/record.hpp"

namespace koord::service {
namespace {

Result<store::Aggregation> aggregation_of(std::uint32_t aggregation) {
  using store::Aggregation;
  switch (aggregation) {
    case KOORD_AGG_LAST:
      return Aggregation::last;
    case KOORD_AGG_AVG:
      return Aggregation::avg;
    case KOORD_AGG_MIN:
      return Aggregation::min;
    case KOORD_AGG_MAX:
      return Aggregation::max;
    case KOORD_AGG_COUNT:
      return Aggregation::count;
    case KOORD_AGG_P50:
      return Aggregation::p50;
    case KOORD_AGG_P90:
      return Aggregation::p90;
    case KOORD_AGG_P95:
      return Aggregation::p95;
    case KOORD_AGG_P99:
      return Aggregation::p99;
    default:
      return invalid("aggregation is " + std::to_string(aggregation) + ", expected a KOORD_AGG_*");
  }
}

// A plugin's query, converted for the metric cache.
struct TakenQuery {
  store::Query query;
  std::uint32_t aggregation = 0;
  std::uint64_t subject = KOORD_NO_SUBJECT;
  bool of_pod = false;  // the subject is a pod; rows of its containers have the same labels, but are not its own
};

bool has_container(const metric::Labels& labels) {
  for (const auto& [name, value] : labels) {
    if (name == "container_id" && !value.empty()) return true;
  }
  return false;
}

// Matches the subject by its labels, so the query finds ended series as well as living series.
Result<void> match_subject(SharedServices& shared, TakenQuery& taken) {
  if (taken.subject == KOORD_NO_SUBJECT) return {};
  std::optional<metric::Subject> subject = shared.views.of(shared.hub.current())->subject(taken.subject);
  if (!subject) return refuse(KOORD_E_GONE, "no pod or container has the handle " + std::to_string(taken.subject));
  taken.of_pod = !has_container(subject->labels);
  for (auto& label : subject->labels) {
    if (!label.second.empty()) taken.query.match.push_back(std::move(label));
  }
  return {};
}

Result<TakenQuery> take_query(SharedServices& shared, const koord_query* in) {
  const auto record = TRY(take_record<koord_query>(in, "query"));
  TakenQuery taken;
  taken.query.metric = TRY(name_argument(record.metric, "metric"));
  taken.query.match = TRY(labels_argument(record.labels, record.n_labels, record.label_stride));
  taken.query.from = from_ns(record.from_ns);
  taken.query.to = record.to_ns == 0 ? shared.clock.now() : from_ns(record.to_ns);
  taken.aggregation = record.aggregation;
  taken.subject = record.subject;
  if (taken.query.from > taken.query.to)
    return invalid("from_ns " + std::to_string(record.from_ns) + " is after to_ns " +
                   std::to_string(to_ns(taken.query.to)));
  TRY(match_subject(shared, taken));
  return taken;
}

bool is_wanted(const TakenQuery& taken, const metric::Labels& row) { return !taken.of_pod || !has_container(row); }

StoreFeed::LiveSeries handles_of(const SharedServices& shared, const TakenQuery& taken, std::uint64_t tag) {
  StoreFeed::LiveSeries live = shared.feed.find(tag);
  if (live.subject == KOORD_NO_SUBJECT) live.subject = taken.subject;
  return live;
}

// Follows the ABI's rule for arrays: always sets *need, and copies the records only if all of them fit.
template <class Record>
koord_status answer_records(const std::vector<Record>& records, Record* out, std::uint32_t cap, std::uint32_t stride,
                            std::uint32_t* need) {
  *need = static_cast<std::uint32_t>(records.size());
  if (records.size() > cap) return KOORD_E_TOO_SMALL;
  auto* at = reinterpret_cast<unsigned char*>(out);
  for (const Record& record : records) {
    std::memcpy(at, &record, sizeof record);
    at += stride;
  }
  return KOORD_OK;
}

Result<void> check_out(const void* out, std::uint32_t cap, std::uint32_t stride, std::uint32_t record_size,
                       const std::uint32_t* need) {
  TRY(pointer_argument(need, "need"));
  return check_array(out, cap, stride, record_size, "the caller's array");
}

Error too_many_rows(PluginContext& context, const char* what) {
  return context.over_quota("query", "the answer has more than " + std::to_string(kMaxRows) + " " + what +
                                         ", expected a query of a shorter time or of fewer series");
}

}  // namespace

Result<koord_status> answer_aggregate(PluginContext& context, const koord_query* query, koord_agg_row* rows,
                                      std::uint32_t cap, std::uint32_t stride, std::uint32_t* need) {
  SharedServices& shared = context.shared();
  TRY(check_out(rows, cap, stride, sizeof(koord_agg_row), need));
  TakenQuery taken = TRY(take_query(shared, query));
  taken.query.with_labels = taken.of_pod;
  const store::Aggregation aggregation = TRY(aggregation_of(taken.aggregation));
  std::vector<koord_agg_row> found;
  for (const store::AggregateRow& row : shared.feed.store().aggregate(taken.query, {&aggregation, 1})) {
    if (!is_wanted(taken, row.labels)) continue;
    const StoreFeed::LiveSeries live = handles_of(shared, taken, row.tag);
    found.push_back({live.subject, live.series, row.values[0], row.count, to_ns(row.from), to_ns(row.to)});
  }
  if (found.size() > kMaxRows) return too_many_rows(context, "rows");
  return answer_records(found, rows, cap, stride, need);
}

Result<koord_status> answer_samples(PluginContext& context, const koord_query* query, koord_sample* out,
                                    std::uint32_t cap, std::uint32_t stride, std::uint32_t* need) {
  SharedServices& shared = context.shared();
  TRY(check_out(out, cap, stride, sizeof(koord_sample), need));
  TakenQuery taken = TRY(take_query(shared, query));
  taken.query.most_samples = kMaxRows;
  std::vector<koord_sample> found;
  for (const store::SeriesSamples& series : shared.feed.store().samples(taken.query)) {
    if (!is_wanted(taken, series.labels)) continue;
    const StoreFeed::LiveSeries live = handles_of(shared, taken, series.tag);
    for (const store::TimedValue& sample : series.samples)
      found.push_back({to_ns(sample.time), live.series, sample.value});
  }
  if (found.size() > kMaxRows) return too_many_rows(context, "samples");
  return answer_records(found, out, cap, stride, need);
}

}  // namespace koord::service
