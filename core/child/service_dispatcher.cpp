// SPDX-License-Identifier: Apache-2.0
#include "core/child/service_dispatcher.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/child/record_wire.hpp"
#include "core/child/served_verdicts.hpp"
#include "core/service/metric_queries.hpp"
#include "core/service/record_arguments.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::child {
namespace {

using namespace service;  // the service tables

// The longest answer that a child may request.
constexpr std::uint64_t kMaxAnswer = 4u << 20;

std::uint32_t length(const auto& list) { return static_cast<std::uint32_t>(list.size()); }

koord_status define(const koord_host* host, Unpacker& in, Packer& out) {
  koord_metric_desc desc{.struct_size = sizeof desc};
  take_members(in, desc);
  std::vector<double> bounds(in.count(sizeof(double)));
  for (double& bound : bounds) bound = in.number<double>();
  desc.bounds = bounds.data();
  desc.n_bounds = length(bounds);
  std::uint32_t metric = 0;
  koord_status status = metrics_service.define(host, &desc, &metric);
  out.add(metric);
  return status;
}

koord_status series(const koord_host* host, Unpacker& in, Packer& out) {
  auto metric = in.number<std::uint32_t>();
  auto subject = in.number<std::uint64_t>();
  std::vector<koord_label> labels = in.labels();
  std::uint64_t series = 0;
  koord_status status =
      metrics_service.series(host, metric, subject, labels.data(), length(labels), sizeof(koord_label), &series);
  out.add(series);
  return status;
}

koord_status append(const koord_host* host, Unpacker& in) {
  auto t_ns = in.number<std::uint64_t>();
  std::vector<koord_point> points(in.count(sizeof(koord_point)));
  for (koord_point& point : points) point = {in.number<std::uint64_t>(), in.number<double>()};
  return metrics_service.append(host, t_ns, points.data(), length(points), sizeof(koord_point));
}

koord_status append_histograms(const koord_host* host, Unpacker& in) {
  auto t_ns = in.number<std::uint64_t>();
  std::vector<koord_histogram> histograms(in.count(sizeof(koord_histogram) - sizeof(std::uint64_t)));
  std::vector<std::vector<std::uint64_t>> counts;
  for (koord_histogram& histogram : histograms) {
    histogram = {
        .series = in.number<std::uint64_t>(), .cumulative = nullptr, .n = 0, .rsv = 0, .sum = in.number<double>()};
    std::vector<std::uint64_t>& cumulative = counts.emplace_back(in.count(sizeof(std::uint64_t)));
    for (std::uint64_t& count : cumulative) count = in.number<std::uint64_t>();
    // Points to the vector's heap memory, which stays valid when the vector is moved.
    histogram.cumulative = cumulative.data();
    histogram.n = length(cumulative);
  }
  return metrics_service.append_histograms(host, t_ns, histograms.data(), length(histograms), sizeof(koord_histogram));
}

// Serves a query. Reads the query and the number of rows that the child has room for.
template <class Row, class Ask>
koord_status query(Unpacker& in, Packer& out, Ask ask) {
  koord_query query{.struct_size = sizeof query};
  take_members(in, query);
  std::vector<koord_label> labels = in.labels();
  query.labels = labels.data();
  query.n_labels = length(labels);
  query.label_stride = sizeof(koord_label);
  std::vector<Row> rows(std::min(in.number<std::uint32_t>(), kMaxRows));
  std::uint32_t need = 0;
  koord_status status = ask(&query, rows.data(), length(rows), static_cast<std::uint32_t>(sizeof(Row)), &need);
  out.add(need);
  std::size_t written = status == KOORD_OK ? need : 0;
  out.add(std::string_view(reinterpret_cast<const char*>(rows.data()), written * sizeof(Row)));
  return status;
}

// Serves a request for bytes. The last field of the request is the size of the child's buffer. The answer begins with
// the size that is needed.
template <class Ask>
koord_status bytes(Unpacker& in, Packer& out, Ask ask) {
  std::string buffer(std::min(in.number<std::uint64_t>(), kMaxAnswer), '\0');
  std::uint64_t need = 0;
  koord_status status = ask(buffer.data(), std::uint64_t{buffer.size()}, &need);
  out.add(need);
  out.add(std::string_view(buffer).substr(0, status == KOORD_OK ? need : 0));
  return status;
}

template <class Value, class Ask>
koord_status value(Packer& out, Ask ask) {
  Value value{};
  koord_status status = ask(&value);
  out.add(value);
  return status;
}

koord_status processes(const koord_host* host, Unpacker& in, Packer& out) {
  auto subject = in.number<std::uint64_t>();
  std::vector<std::int32_t> pids(std::min(in.number<std::uint32_t>(), kMaxRows));
  std::uint32_t need = 0;
  koord_status status = state_service.processes(host, subject, pids.data(), length(pids), &need);
  out.add(need);
  for (std::uint32_t i = 0; status == KOORD_OK && i < need; ++i) out.add(pids[i]);
  return status;
}

koord_status cgroup_open(const koord_host* host, Unpacker& in, Packer& out) {
  koord_str dir = in.str(), file = in.str();
  std::vector<koord_str> keys(in.count(sizeof(std::uint64_t)));
  for (koord_str& key : keys) key = in.str();
  return value<std::uint64_t>(out, [&](std::uint64_t* handle) {
    return cgroup_service.open(host, dir, file, keys.data(), length(keys), handle);
  });
}

koord_status cgroup_read(const koord_host* host, Unpacker& in, Packer& out) {
  constexpr std::uint32_t kMaxKeys = 256;  // the limit of a handle; the service refuses more keys
  auto handle = in.number<std::uint64_t>();
  auto n = in.number<std::uint32_t>();
  std::vector<std::int64_t> values(kMaxKeys);
  std::uint64_t read_ns = 0;
  koord_status status = cgroup_service.read(host, handle, values.data(), n, &read_ns);
  values.resize(std::min(n, kMaxKeys));
  out.add(read_ns);
  for (std::int64_t value : values) out.add(value);
  return status;
}

// Intents that borrow from the request.
struct Intents {
  std::vector<koord_intent> intents;
  std::vector<std::vector<koord_label>> inputs;
};

Intents intents_of(Unpacker& in) {
  Intents all{.intents = std::vector<koord_intent>(in.count(sizeof(koord_intent) / 2)), .inputs = {}};
  for (koord_intent& intent : all.intents) {
    intent = {.struct_size = sizeof intent};
    take_members(in, intent);
    intent.inputs = all.inputs.emplace_back(in.labels()).data();
    intent.n_inputs = length(all.inputs.back());
    intent.input_stride = sizeof(koord_label);
  }
  return all;
}

koord_status propose(const koord_host* host, Unpacker& in) {
  const auto [intents, inputs] = intents_of(in);
  return knobs_service.propose(host, intents.data(), length(intents), sizeof(koord_intent));
}

// Reads a refusal. A status that is not an error becomes KOORD_E_INVALID.
Refusal refusal_of(Unpacker& in) {
  const auto status = in.number<koord_status>();
  std::string line(in.text());
  return {status < 0 ? status : KOORD_E_INVALID, std::move(line), std::string(in.text())};
}

koord_status refuse_plan(const koord_host* host, Unpacker& in) {
  const auto [intents, inputs] = intents_of(in);
  return service::refuse_plan(host, intents.data(), length(intents), refusal_of(in));
}

koord_status refuse_plan_size(PluginContext& context, Unpacker& in) {
  const auto n = in.number<std::uint64_t>();
  const Result<void> fits = plan_argument(n, in.number<std::uint64_t>());
  return to_status(context,
                   fits ? invalid("a plan that is not too large") : context.over_quota("plan", fits.error().text));
}

koord_status evict_request(const koord_host* host, Unpacker& in) {
  koord_eviction eviction{.struct_size = sizeof eviction};
  take_members(in, eviction);
  std::vector<std::uint64_t> pods(in.count(sizeof(std::uint64_t)));
  for (std::uint64_t& pod : pods) pod = in.number<std::uint64_t>();
  eviction.pods = pods.data();
  eviction.n_pods = length(pods);
  const std::vector<koord_label> inputs = in.labels();
  eviction.inputs = inputs.data();
  eviction.n_inputs = length(inputs);
  eviction.input_stride = sizeof(koord_label);
  return evict_service.request(host, &eviction);
}

}  // namespace

Result<ServiceDispatcher::Answer> ServiceDispatcher::serve(Service service, Unpacker& request) {
  Packer given;
  context_.take_error();
  koord_status status = TRY(run(service, request, given));
  if (!request.complete())
    return invalid("request " + std::to_string(static_cast<std::uint32_t>(service)) + " makes no sense");
  if (service == Service::cgroup_close) return Answer{};
  std::optional<ReportedError> error = status == KOORD_OK ? std::nullopt : context_.take_error();
  Packer answer;
  answer.add(status).add(std::string_view(error ? error->text : ""));
  return Answer{answer.bytes() + given.bytes(), std::exchange(to_send_, nullptr)};
}

Result<koord_status> ServiceDispatcher::run(Service service, Unpacker& in, Packer& out) {
  const char* table = table_of(service);
  if (!table)
    return invalid("request " + std::to_string(static_cast<std::uint32_t>(service)) + " is of no known service");
  if (!context_.is_granted(table)) return invalid(std::string("request for ") + table + ", which it was not granted");
  switch (service) {
    case Service::define:
      return define(host(), in, out);
    case Service::series:
      return series(host(), in, out);
    case Service::end_series:
      return metrics_service.end_series(host(), in.number<std::uint64_t>());
    case Service::append:
      return child::append(host(), in);
    case Service::append_until:
      return out.add(context_.latest_plausible_ns()), KOORD_OK;
    case Service::append_histograms:
      return append_histograms(host(), in);
    case Service::aggregate:
      return query<koord_agg_row>(in, out, [&](auto... rest) { return metrics_service.aggregate(host(), rest...); });
    case Service::samples:
      return query<koord_sample>(in, out, [&](auto... rest) { return metrics_service.samples(host(), rest...); });
    case Service::acquire:
      return acquire(in, out);
    case Service::subscribe:
      return state_service.subscribe(host(), in.number<std::uint32_t>());
    case Service::processes:
      return processes(host(), in, out);
    case Service::kv_get: {
      koord_str key = in.str();
      return bytes(in, out, [&](auto... rest) { return kv_service.get(host(), key, rest...); });
    }
    case Service::kv_set: {
      koord_str key = in.str();
      std::string_view content = in.text();
      return kv_service.set(host(), key, content.data(), content.size(), in.number<std::uint64_t>());
    }
    case Service::kv_remove:
      return kv_service.remove(host(), in.str());
    case Service::config_json:
      return bytes(in, out, [&](auto... rest) { return config_service.json(host(), rest...); });
    case Service::config_i64:
      return value<std::int64_t>(out,
                                 [&, pointer = in.str()](auto* v) { return config_service.i64(host(), pointer, v); });
    case Service::config_f64:
      return value<double>(out, [&, pointer = in.str()](auto* v) { return config_service.f64(host(), pointer, v); });
    case Service::config_boolean:
      return value<std::int32_t>(
          out, [&, pointer = in.str()](auto* v) { return config_service.boolean(host(), pointer, v); });
    case Service::config_string: {
      koord_str pointer = in.str();
      return bytes(in, out, [&](auto... rest) { return config_service.string(host(), pointer, rest...); });
    }
    case Service::clock_now:
      return out.add(clock_service.now_ns(host())), KOORD_OK;
    case Service::clock_wall:
      return out.add(clock_service.wall_ns(host())), KOORD_OK;
    case Service::fs_path: {
      auto root = in.number<std::uint32_t>();
      return bytes(in, out, [&](auto... rest) { return fs_service.path(host(), root, rest...); });
    }
    case Service::fs_read: {
      auto root = in.number<std::uint32_t>();
      koord_str relative = in.str();
      return bytes(in, out, [&](auto... rest) { return fs_service.read(host(), root, relative, rest...); });
    }
    case Service::cgroup_open:
      return cgroup_open(host(), in, out);
    case Service::cgroup_read:
      return cgroup_read(host(), in, out);
    case Service::cgroup_close:
      return cgroup_service.close(host(), in.number<std::uint64_t>()), KOORD_OK;
    case Service::audit_record: {
      auto subject = in.number<std::uint64_t>();
      koord_str what = in.str();
      return audit_service.record(host(), subject, what, in.str());
    }
    case Service::capability_get:
      return value<std::uint32_t>(out,
                                  [&, name = in.str()](auto* v) { return capabilities_service.get(host(), name, v); });
    case Service::capability_report: {
      koord_str name = in.str();
      auto state = in.number<std::uint32_t>();
      return capabilities_service.report(host(), name, state, in.str());
    }
    case Service::evict_request:
      return evict_request(host(), in);
    case Service::refuse_eviction:
    case Service::refuse_verdicts:
      return service::refuse_record(host(), refusal_of(in));
    case Service::verdict_post:
      return serve_verdict_post(host(), in);
    case Service::verdict_end:
      return serve_verdict_end(host(), in);
    case Service::verdict_acquire:
      return serve_verdict_acquire(context_, in, out);
    case Service::verdict_subscribe:
      return verdict_service.subscribe(host(), in.number<std::int32_t>());
    case Service::propose:
      return propose(host(), in);
    case Service::refuse_plan:
      return child::refuse_plan(host(), in);
    case Service::refuse_plan_size:
      return refuse_plan_size(context_, in);
    case Service::current: {
      koord_str knob = in.str(), dir = in.str();
      return bytes(in, out, [&](auto... rest) { return knobs_service.current(host(), knob, dir, rest...); });
    }
    case Service::base: {
      koord_str knob = in.str(), dir = in.str();
      return bytes(in, out, [&](auto... rest) { return knobs_service.base(host(), knob, dir, rest...); });
    }
    default:
      return invalid("request of no known service");
  }
}

koord_status ServiceDispatcher::acquire(Unpacker& in, Packer& out) {
  auto held = in.number<std::uint64_t>();
  SharedServices& shared = context_.shared();
  SnapshotViewPtr view = shared.views.of(shared.hub.current());
  if (!view->knows_anything())
    return out.add(std::uint64_t{0}), context_.fail(KOORD_E_AGAIN, "nothing is known of this node yet");
  auto image = images_.of(std::move(view));
  if (!image) return out.add(std::uint64_t{0}), context_.fail(KOORD_E_IO, image.error().message());
  out.add((*image)->serial);
  if ((*image)->serial != held) to_send_ = *std::move(image);
  return KOORD_OK;
}

void ServiceDispatcher::append(std::uint64_t t_ns, const std::vector<koord_point>& points) {
  metrics_service.append(host(), t_ns, points.data(), length(points), sizeof(koord_point));
  // No caller waits for a result, so an error is logged.
  if (std::optional<ReportedError> error = context_.take_error())
    context_.log(KOORD_LOG_WARN, "append: " + error->text);
}

}  // namespace koord::child
