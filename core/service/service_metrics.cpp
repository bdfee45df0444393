// SPDX-License-Identifier: Apache-2.0
// koord.metrics/1, the writing half: definitions, series and batches are passed to the registry, which supplies
// /metrics and the metric cache.
#include <cstddef>
#include <vector>

#include "core/service/arguments.hpp"
#include "core/service/host_plugin_metrics.hpp"
#include "core/service/metric_queries.hpp"
#include "core/service/record_arguments.hpp"
#include "core/service/rights.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::service {
namespace {

// A plugin's array of points is passed on without conversion.
static_assert(sizeof(metric::Point) == sizeof(koord_point) && alignof(metric::Point) == alignof(koord_point));
static_assert(offsetof(metric::Point, series) == offsetof(koord_point, series));
static_assert(offsetof(metric::Point, value) == offsetof(koord_point, value));

koord_status define(const koord_host* host, const koord_metric_desc* desc, std::uint32_t* metric) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    TRY(pointer_argument(metric, "metric"));
    const metric::Desc taken = TRY(desc_argument(desc));
    if (Result<void> may = check_metric_name(context.rights(), context.id(), taken.name); !may)
      return context.refused(std::move(may).error());
    // A plugin of the host may take its metric name from a third-party plugin that has already defined it.
    const bool takes_name = context.rights().host_plugin && is_metric_of_host_plugin(taken.name);
    Result<std::uint32_t> defined = context.shared().metrics.define(context.id(), taken, takes_name);
    if (!defined && defined.error().is(std::errc::no_buffer_space))
      return context.over_quota("definitions", defined.error().text);
    if (!defined) return context.refused(std::move(defined).error());
    *metric = *defined;
    return {};
  });
}

koord_status series(const koord_host* host, std::uint32_t metric, std::uint64_t subject, const koord_label* labels,
                    std::uint32_t n, std::uint32_t stride, std::uint64_t* series) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    TRY(pointer_argument(series, "series"));
    metric::Labels own = TRY(labels_argument(labels, n, stride));
    SharedServices& shared = context.shared();
    const metric::Subject bound = TRY(context.living_subject(subject));
    const metric::SeriesId id = TRY(shared.metrics.series(context.id(), metric, bound, std::move(own)));
    if (shared.metrics.lacks_label_room(context.id())) {
      const std::size_t most = metric::max_label_bytes(shared.metrics.budget(context.id()));
      context.note_breach("labels", "the labels of its series have " + std::to_string(most) +
                                        " bytes, as many as they may, further series are added up as 'other'");
    }
    // The subject may have ended after the first check and before the series existed. In that case, nothing else would
    // end the series.
    if (Result<metric::Subject> still = context.living_subject(subject); !still) {
      shared.metrics.end_subject(subject);
      return std::move(still).error();
    }
    *series = id;
    return {};
  });
}

koord_status end_series(const koord_host* host, std::uint64_t series) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    return context.shared().metrics.end_series(context.id(), series);
  });
}

// Refuses a time in the future, because the metric cache would refuse all later samples until that time.
Result<void> check_time(PluginContext& context, std::uint64_t t_ns) {
  if (context.is_time_plausible(t_ns)) return {};
  return invalid("t_ns " + std::to_string(t_ns) + " is in the future, expected host time");
}

koord_status record(PluginContext& context, std::uint64_t t_ns, std::span<const metric::Point> points) {
  if (Result<void> timely = check_time(context, t_ns); !timely) return to_status(context, timely.error());
  Result<metric::RecordSummary> recorded = context.shared().metrics.record(context.id(), from_ns(t_ns), points);
  return recorded ? KOORD_OK : to_status(context, recorded.error());
}

// Copies points with a larger stride into a contiguous array.
koord_status record_strided(PluginContext& context, std::uint64_t t_ns, const Array<koord_point>& array) {
  std::vector<metric::Point> points(array.size());
  for (std::uint32_t i = 0; i < array.size(); ++i) points[i] = {array[i].series, array[i].value};
  return record(context, t_ns, points);
}

koord_status append(const koord_host* host, std::uint64_t t_ns, const koord_point* points, std::uint32_t n,
                    std::uint32_t stride) {
  return serve(host, [&](PluginContext& context) -> Result<koord_status> {
    const auto array = TRY(array_argument(points, n, stride, "points"));
    if (stride != sizeof(koord_point)) return record_strided(context, t_ns, array);
    return record(context, t_ns, {reinterpret_cast<const metric::Point*>(points), n});
  });
}

koord_status append_columns(const koord_host* host, std::uint64_t t_ns, const std::uint64_t* series,
                            const double* values, std::uint32_t n) {
  return serve(host, [&](PluginContext& context) -> Result<koord_status> {
    TRY(check_array(series, n, sizeof *series, sizeof *series, "series"));
    TRY(check_array(values, n, sizeof *values, sizeof *values, "values"));
    std::vector<metric::Point> points(n);
    for (std::uint32_t i = 0; i < n; ++i) points[i] = {series[i], values[i]};
    return record(context, t_ns, points);
  });
}

koord_status append_histograms(const koord_host* host, std::uint64_t t_ns, const koord_histogram* histograms,
                               std::uint32_t n, std::uint32_t stride) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    const auto array = TRY(histograms_argument(histograms, n, stride));
    std::vector<metric::HistogramPoint> points;
    points.reserve(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      const koord_histogram histogram = array[i];
      points.push_back({histogram.series, histogram.cumulative, histogram.n, histogram.sum});
    }
    TRY(check_time(context, t_ns));
    TRY(context.shared().metrics.record_histograms(context.id(), from_ns(t_ns), points));
    return {};
  });
}

koord_status aggregate(const koord_host* host, const koord_query* query, koord_agg_row* rows, std::uint32_t cap,
                       std::uint32_t stride, std::uint32_t* need) {
  return serve(host, [&](PluginContext& context) { return answer_aggregate(context, query, rows, cap, stride, need); });
}

koord_status samples(const koord_host* host, const koord_query* query, koord_sample* out, std::uint32_t cap,
                     std::uint32_t stride, std::uint32_t* need) {
  return serve(host, [&](PluginContext& context) { return answer_samples(context, query, out, cap, stride, need); });
}

}  // namespace

const koord_svc_metrics metrics_service = {
    sizeof metrics_service, 0,         define, series, end_series, append, append_columns,
    append_histograms,      aggregate, samples};

}  // namespace koord::service
