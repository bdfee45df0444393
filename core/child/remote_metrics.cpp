// SPDX-License-Identifier: Apache-2.0
// The table koord.metrics/1 in a child.
#include <cstring>

#include "core/child/record_wire.hpp"
#include "core/child/remote_call.hpp"
#include "core/service/record_arguments.hpp"

namespace koord::child {
namespace {

using service::array_argument;
using service::check_array;
using service::labels_argument;
using service::name_argument;
using service::pointer_argument;
using service::take_record;

koord_status define(const koord_host* host, const koord_metric_desc* desc, std::uint32_t* metric) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(pointer_argument(metric, "metric"));
    const auto record = TRY(take_record<koord_metric_desc>(desc, "desc"));
    const metric::Desc taken = TRY(service::desc_argument(desc));
    Packer question = request(Service::define);
    add_members(question, record);
    question.add(static_cast<std::uint32_t>(taken.bounds.size()));
    for (const double bound : taken.bounds) question.add(bound);
    const koord_status status = take(remote, question, metric);
    if (status == KOORD_OK) remote.values().add_metric(*metric, record.type, record.resolution);
    return status;
  });
}

koord_status series(const koord_host* host, std::uint32_t metric, std::uint64_t subject, const koord_label* labels,
                    std::uint32_t n, std::uint32_t stride, std::uint64_t* series) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(pointer_argument(series, "series"));
    Packer question = request(Service::series);
    question.add(metric).add(subject);
    add_labels(question, TRY(labels_argument(labels, n, stride)));
    const koord_status status = take(remote, question, series);
    if (status == KOORD_OK) remote.values().add_series(*series, metric);
    return status;
  });
}

koord_status end_series(const koord_host* host, std::uint64_t series) {
  return serve(
      host, [&](HostProxy& remote) { return remote.returned(remote.ask(request(Service::end_series).add(series))); });
}

koord_status append(const koord_host* host, std::uint64_t t_ns, const koord_point* points, std::uint32_t n,
                    std::uint32_t stride) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    const auto array = TRY(array_argument(points, n, stride, "points"));
    std::vector<koord_point> batch(n);
    for (std::uint32_t i = 0; i < n; ++i) batch[i] = array[i];
    return remote.append(t_ns, std::move(batch));
  });
}

koord_status append_columns(const koord_host* host, std::uint64_t t_ns, const std::uint64_t* series,
                            const double* values, std::uint32_t n) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(check_array(series, n, sizeof *series, sizeof *series, "series"));
    TRY(check_array(values, n, sizeof *values, sizeof *values, "values"));
    std::vector<koord_point> batch(n);
    for (std::uint32_t i = 0; i < n; ++i) batch[i] = {series[i], values[i]};
    return remote.append(t_ns, std::move(batch));
  });
}

koord_status append_histograms(const koord_host* host, std::uint64_t t_ns, const koord_histogram* histograms,
                               std::uint32_t n, std::uint32_t stride) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    const auto array = TRY(service::histograms_argument(histograms, n, stride));
    Packer question = request(Service::append_histograms);
    question.add(t_ns).add(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      const koord_histogram histogram = array[i];
      question.add(histogram.series).add(histogram.sum).add(histogram.n);
      for (std::uint32_t k = 0; k < histogram.n; ++k) question.add(histogram.cumulative[k]);
    }
    return remote.returned(remote.ask(question));
  });
}

template <class Row>
koord_status query(const koord_host* host, Service service, const koord_query* query, Row* rows, std::uint32_t cap,
                   std::uint32_t stride, std::uint32_t* need) {
  return serve(host, [&](HostProxy& remote) -> Result<koord_status> {
    TRY(pointer_argument(need, "need"));
    TRY(check_array(rows, cap, stride, sizeof(Row), "the caller's array"));
    const auto record = TRY(take_record<koord_query>(query, "query"));
    TRY(name_argument(record.metric, "metric"));
    Packer question = request(service);
    add_members(question, record);
    add_labels(question, TRY(labels_argument(record.labels, record.n_labels, record.label_stride)));
    Answer answer = remote.ask(question.add(cap));
    take_need(answer, need);
    std::string_view found = answer.rest.text();
    auto* at = reinterpret_cast<unsigned char*>(rows);
    for (; found.size() >= sizeof(Row); found.remove_prefix(sizeof(Row)), at += stride)
      std::memcpy(at, found.data(), sizeof(Row));
    return remote.returned(answer);
  });
}

koord_status aggregate(const koord_host* host, const koord_query* q, koord_agg_row* rows, std::uint32_t cap,
                       std::uint32_t stride, std::uint32_t* need) {
  return query(host, Service::aggregate, q, rows, cap, stride, need);
}

koord_status samples(const koord_host* host, const koord_query* q, koord_sample* out, std::uint32_t cap,
                     std::uint32_t stride, std::uint32_t* need) {
  return query(host, Service::samples, q, out, cap, stride, need);
}

}  // namespace

const koord_svc_metrics remote_metrics = {
    sizeof remote_metrics, 0,         define, series, end_series, append, append_columns,
    append_histograms,     aggregate, samples};

}  // namespace koord::child
